// What the CUDA kernels' candidates have in common.
#include <gtest/gtest.h>

#include <tuple>

#include "kernels/cuda/refusals_testing.h"

namespace aicf {
namespace {

using namespace abi;           // NOLINT(google-build-using-namespace)
using namespace abi::testing;  // NOLINT(google-build-using-namespace)

// One query for each of 9 heads, 3 of which share a key head.
std::vector<Candidate> DecodeCandidates(int64_t keys) {
  const View query = DenseView(DType::kF16, {1, 9, 1, 64});
  const View cache = DenseView(DType::kF16, {1, 3, keys, 64});
  Problem p = ProblemOf(Family::kAttention, AttentionAttrs{}, 3, {query, cache, cache}, {query});
  p.math = MathMode::kFp16;
  EXPECT_EQ(ValidateProblem(p).message(), "");
  return CandidatesOf(*FindKernel("cuda.attention.decode"), p, Device());
}

// Shared memory that no key ever fills is room for the next kernel's blocks.
TEST(CudaChoices, DecodeAttentionHoldsNoMoreStagesThanKeysFill) {
  int64_t most = 0;
  for (const int64_t keys : {int64_t{1}, int64_t{1280}, int64_t{65536}}) {
    const std::vector<Candidate> all = DecodeCandidates(keys);
    ASSERT_FALSE(all.empty()) << keys;
    for (const Candidate& c : all) {
      const Parameters& cut = c.variant.parameters;
      const int64_t warps = cut["split"] * cut["warps"];
      EXPECT_LE(cut["stages"] - 2, keys / (cut["tile_keys"] * warps)) << keys;
      most = std::max(most, cut["stages"]);
    }
  }
  EXPECT_GT(most, 3) << "many keys fill many";
}

// Where keys are there before queries are, instructions count; otherwise what is asked for at once.
TEST(CudaChoices, DecodeAttentionOfFewKeysHasFewWarpsAndShortTiles) {
  const auto best = [](int64_t keys) {
    const std::vector<Candidate> all = DecodeCandidates(keys);
    return std::ranges::min_element(all, {}, &Candidate::cost_us)->variant.parameters;
  };
  EXPECT_EQ(best(1280)["warps"], 5) << "each has two tiles; of four warps some had three";
  EXPECT_EQ(best(1280)["tile_keys"], 16);
  EXPECT_EQ(best(65536)["tile_keys"], 32);
}

// A decode step of `batch` requests of `keys` keys with 8 key heads of 128, as language models have
// it; with `appends` it appends a row of each.
Parameters ChosenDecode(int64_t batch, int64_t keys, int64_t group, bool appends) {
  constexpr int64_t kKeyHeads = 8, kHead = 128, kPage = 16;
  AttentionAttrs a;
  a.lengths = a.pages = true;
  a.rows = RowOrigin::kOperand;
  a.window_right = 0;
  const View rows = DenseView(DType::kBF16, {batch, kKeyHeads * group, 1, kHead});
  const View cache = {DType::kBF16,
                      {batch * keys / kPage, kKeyHeads, kPage, kHead},
                      {kPage * kKeyHeads * kHead, kHead, kKeyHeads * kHead, 1},
                      0};
  const View requests = DenseView(DType::kI32, {batch});
  std::vector<View> inputs = {
      rows, cache, cache, requests, DenseView(DType::kI32, {batch, keys / kPage}), requests};
  std::vector<View> outputs = {rows};
  if (appends) {
    a.append_pairs = kHead / 2;
    const View row = DenseView(DType::kBF16, {batch, 1, kKeyHeads, kHead});
    const View angles = DenseView(DType::kF32, {batch, 1, a.append_pairs});
    inputs.insert(inputs.end(), {row, row, DenseView(DType::kI32, {batch, 1, 2}), angles, angles});
    outputs.insert(outputs.end(), {cache, cache});
  }
  const int core = static_cast<int>(inputs.size());
  Problem p = ProblemOf(Family::kAttention, a, core, std::move(inputs), std::move(outputs));
  p.math = MathMode::kBf16;
  EXPECT_EQ(ValidateProblem(p).message(), "");
  return BestCandidate(*FindKernel("cuda.attention.decode"), p, Device())->variant.parameters;
}

// Eight warps turn the queries and the new key of a head of 128 at once, four one after the other.
TEST(CudaChoices, AppendingDecodeAttentionHasEnoughWarpsToTurnItsRowsAtOnce) {
  for (const int64_t group : {1, 4, 8}) {
    for (const auto& [batch, keys, split] : {std::tuple{4, 4096, 2}, {8, 2048, 2}, {16, 1024, 1}}) {
      const Parameters cut = ChosenDecode(batch, keys, group, /*appends=*/true);
      EXPECT_EQ(cut["warps"], 8) << batch << " x " << keys;
      EXPECT_EQ(cut["split"], split) << batch << " x " << keys;
    }
    EXPECT_EQ(ChosenDecode(16, 1024, group, /*appends=*/false)["warps"], 4);
    // Two blocks of four warps fit a multiprocessor, and both are needed.
    EXPECT_EQ(ChosenDecode(32, 1024, group, /*appends=*/true)["warps"], 4);
  }
}

// Where a request has so few keys that each warp has a tile or two, as many warps as that takes and
// not more, and no fewer than turn the rows at once.
TEST(CudaChoices, AppendingDecodeAttentionOfOneRequestHasAsManyWarpsAsItsKeysNeed) {
  const Parameters cut = ChosenDecode(1, 1280, 4, /*appends=*/true);
  EXPECT_EQ(cut["split"], 8);
  EXPECT_EQ(cut["warps"], 6);
  EXPECT_EQ(ChosenDecode(1, 4096, 4, /*appends=*/true)["warps"], 8);
}

// A normalised row times blocks has this kernel alone. As integers a long row leaves no room for
// the rings where a multiprocessor has little shared memory; it is multiplied as numbers there.
TEST(CudaChoices, RowsTimesBlocksHaveCandidatesOnEveryTarget) {
  for (const BlockFormat format : {BlockFormat::kQ4_K, BlockFormat::kQ6_K}) {
    for (const int64_t length : {2048, 4096, 8192}) {
      const auto bytes =
          static_cast<int64_t>(*BlockBytes(format, 1, static_cast<uint64_t>(length)));
      BlockGemmAttrs attrs{format};
      attrs.rms_epsilon = 1e-5;
      Problem p =
          ProblemOf(Family::kBlockGemm, attrs, 3,
                    {DenseView(DType::kBF16, {1, length}), DenseView(DType::kU8, {128256, bytes}),
                     DenseView(DType::kF32, {1, length})},
                    {DenseView(DType::kF32, {1, 128256})});
      p.math = MathMode::kBf16;
      for (const char* target : {"cuda:sm_80", "cuda:sm_86", "cuda:sm_90a", "cuda:sm_120"}) {
        const std::vector<Candidate> all =
            CandidatesOf(*FindKernel("cuda.blockgemm.decode"), p, *FindDevice(target));
        ASSERT_FALSE(all.empty()) << target << " " << length;
        if (std::string_view(target) == "cuda:sm_90a") {
          EXPECT_EQ(all[0].variant.parameters["integers"], 1) << length;
        }
      }
    }
  }
}

}  // namespace
}  // namespace aicf
