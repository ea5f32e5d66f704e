// What corrected predictions choose where measurements in networks said what is fastest.
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/costs/fit.h"
#include "kernels/abi/choice.h"

namespace aicf::tune {
namespace {

abi::Parameters ChosenTile(int64_t m, int64_t k, int64_t n) {
  abi::Problem p;
  p.family = abi::Family::kGemm;
  p.attrs = abi::GemmAttrs{};
  p.core_inputs = 2;
  const abi::View result = abi::DenseView(DType::kF16, {m, n});
  p.inputs = {abi::DenseView(DType::kF16, {m, k}), abi::DenseView(DType::kF16, {k, n}), result};
  p.outputs = {result};
  p.math = abi::MathMode::kFp16;
  p.epilogue = *abi::ParseExpr("(%0 = in 0 : f32; %1 = in 1 : f32; %2 = add %0 %1 : f32) -> %2");
  EXPECT_EQ(abi::ValidateProblem(p).message(), "");
  const abi::DeviceSpec device = *abi::FindDevice("cuda:sm_90a");
  const auto cost = [&](const abi::Candidate& c) {
    return BuiltInFit(device).Predict(c, abi::MathMode::kFp16);
  };
  const auto all = abi::CandidatesOf(*abi::FindKernel("cuda.gemm.hopper"), p, device);
  return std::ranges::min_element(all, {}, cost)->variant.parameters;
}

// Blocks that share k pay for the sums that they send: small tiles of BERT do share it, large ones
// of more rows lost a fifth by it.
TEST(Choices, ProductsOfManyTermsShareThemInSmallTilesAlone) {
  const abi::Parameters bert = ChosenTile(128, 3072, 768);
  EXPECT_EQ(bert["split"], 4);
  EXPECT_EQ(bert["tile_m"] * bert["tile_n"], 64 * 64);
  EXPECT_EQ(ChosenTile(197, 3072, 768)["split"], 1);
  EXPECT_EQ(ChosenTile(384, 4096, 1024)["split"], 1);
}

// Whether one kernel is predicted to be faster than another for m rows of k elements and n columns
// in bf16 that are contiguous along k.
bool IsFaster(std::string_view key, std::string_view other, int64_t m, int64_t k, int64_t n) {
  abi::Problem p;
  p.family = abi::Family::kGemm;
  p.attrs = abi::GemmAttrs{};
  p.core_inputs = 2;
  p.inputs = {abi::DenseView(DType::kBF16, {m, k}), {DType::kBF16, {k, n}, {1, k}, 0}};
  p.outputs = {abi::DenseView(DType::kBF16, {m, n})};
  p.math = abi::MathMode::kBf16;
  const abi::DeviceSpec device = *abi::FindDevice("cuda:sm_90a");
  const auto us = [&](std::string_view of) {
    const abi::Candidate best = *abi::BestCandidate(*abi::FindKernel(of), p, device);
    return BuiltInFit(device).Predict(best, p.math);
  };
  return us(key) < us(other);
}

bool Streams(int64_t k, int64_t n) {
  return IsFaster("cuda.gemm.stream", "cuda.gemm.gemv", 1, k, n);
}

// Decode steps of models from 1B on have long columns. Of those of SmolLM2-135M and Qwen2.5-0.5B
// the logits have enough short ones.
TEST(Choices, ProductsOfOneRowStreamWhereColumnsAreLongOrMany) {
  for (const auto& [k, n] : {std::pair{2048, 3072},
                             {2048, 128256},
                             {4096, 4096},
                             {4096, 28672},
                             {14336, 4096},
                             {576, 49152},
                             {896, 151936}}) {
    EXPECT_TRUE(Streams(k, n)) << k << " x " << n;
  }
  for (const auto& [k, n] : {std::pair{576, 960}, {1536, 576}, {2048, 256}, {896, 4864}})
    EXPECT_FALSE(Streams(k, n)) << k << " x " << n;
}

// Whether the product of a row of k elements in bf16 and n rows of blocks streams, by prediction.
bool BlocksStream(BlockFormat format, int64_t k, int64_t n) {
  abi::Problem p;
  p.family = abi::Family::kBlockGemm;
  p.attrs = abi::BlockGemmAttrs{format};
  p.core_inputs = 2;
  const auto bytes = static_cast<int64_t>(*BlockBytes(format, 1, static_cast<uint64_t>(k)));
  p.inputs = {abi::DenseView(DType::kBF16, {1, k}), abi::DenseView(DType::kU8, {n, bytes})};
  p.outputs = {abi::DenseView(DType::kBF16, {1, n})};
  p.math = abi::MathMode::kBf16;
  const abi::DeviceSpec device = *abi::FindDevice("cuda:sm_90a");
  const auto us = [&](std::string_view of) {
    const abi::Candidate best = *abi::BestCandidate(*abi::FindKernel(of), p, device);
    return BuiltInFit(device).Predict(best, p.math);
  };
  return us("cuda.blockgemm.stream") < us("cuda.blockgemm.decode");
}

// Of Llama-3-8B in Q4_K gate and up stream, and its logits; not what takes little longer than
// filling a ring.
TEST(Choices, BlocksStreamWhereTheyAreMany) {
  EXPECT_TRUE(BlocksStream(BlockFormat::kQ4_K, 4096, 28672));
  EXPECT_TRUE(BlocksStream(BlockFormat::kQ6_K, 4096, 16384));
  EXPECT_TRUE(BlocksStream(BlockFormat::kQ6_K, 4096, 128256));
  for (const auto& [k, n] : {std::pair{4096, 6144}, {4096, 4096}, {14336, 4096}, {2048, 16384}})
    EXPECT_FALSE(BlocksStream(BlockFormat::kQ4_K, k, n)) << k << " x " << n;
  // A long row leaves too little room for the ring, and 20 chunks are not shared out evenly.
  EXPECT_FALSE(BlocksStream(BlockFormat::kQ6_K, 14336, 4096));
  EXPECT_FALSE(BlocksStream(BlockFormat::kQ6_K, 28672, 8192));
  EXPECT_FALSE(BlocksStream(BlockFormat::kQ4_K, 5120, 27648));
}

// Products of several requests stream, too, but not those of small networks, nor those of encoders.
TEST(Choices, ProductsOfFewRowsStreamWhereWeightsAreMany) {
  const auto streams = [](int64_t m, int64_t k, int64_t n) {
    return IsFaster("cuda.gemm.stream_rows", "cuda.gemm.hopper", m, k, n);
  };
  for (const int64_t m : {2, 8, 32, 64}) {
    for (const auto& [k, n] : {std::pair{2048, 3072}, {4096, 4096}, {4096, 28672}, {14336, 4096}})
      EXPECT_TRUE(streams(m, k, n)) << m << " x " << k << " x " << n;
    for (const auto& [k, n] : {std::pair{576, 960}, {768, 768}, {512, 1000}})
      EXPECT_FALSE(streams(m, k, n)) << m << " x " << k << " x " << n;
  }
}

}  // namespace
}  // namespace aicf::tune
