// What kernels refuse of products whose epilogue sees the moments of rows, each rule broken once.
#include <gtest/gtest.h>

#include "kernels/cuda/refusals_testing.h"

namespace aicf {
namespace {

using namespace abi;           // NOLINT(google-build-using-namespace)
using namespace abi::testing;  // NOLINT(google-build-using-namespace)

Problem MomentsGemm(DType dtype, MathMode math) {
  GemmAttrs attrs;
  attrs.moments_epsilon = 1e-5;
  Problem p = ProblemOf(Family::kGemm, attrs, 2,
                        {DenseView(dtype, {256, 512}), DenseView(dtype, {512, 256})},
                        {DenseView(dtype, {256, 256})});
  p.math = math;
  p.epilogue = *ParseExpr(
      "(%0 = in 0 : f32; %1 = in 1 : f32; %2 = in 2 : f32; %3 = fma %0 %1 %2 : f32) -> %3");
  return p;
}

TEST(CudaRefusals, OfTheHopperProductWithMoments) {
  const char* key = "cuda.gemm.hopper";
  const Problem p = MomentsGemm(DType::kBF16, MathMode::kBf16);
  const Edits base = HopperProductTile();
  const auto with = [&](Edits edits) {
    edits.insert(edits.begin(), base.begin(), base.end());
    return edits;
  };
  EXPECT_EQ(Refused(key, p, with({{"split", 1}, {"cluster", 1}})), "");
  ExpectParametersRefused(
      key, p,
      {{"swapped tiles sum up no moments", with({{"split", 1}, {"cluster", 1}, {"swap", 1}})},
       {"blocks that share out k sum up no moments", with({{"split", 2}, {"cluster", 2}})}});
  Problem across = p;
  across.inputs[0] = {DType::kBF16, {256, 512}, {1, 256}, 0};
  ExpectUnsupported(key, across, "sums up moments along k, which A's lines are not");
  Problem tf32 = MomentsGemm(DType::kF32, MathMode::kTf32);
  tf32.inputs[1] = {DType::kF32, {512, 256}, {1, 512}, 0};
  ExpectUnsupported(key, tf32, "sums up moments of 16 bits, not of f32");
}

// Every consumer keeps a mean and a scale for each of its rows.
TEST(CudaRefusals, MomentsTakeSharedMemory) {
  const Problem p = MomentsGemm(DType::kBF16, MathMode::kBf16);
  Problem plain = p;
  std::get<GemmAttrs>(plain.attrs).moments_epsilon = AddedReal::kAbsent;
  plain.epilogue = {};
  const KernelInfo& kernel = *FindKernel("cuda.gemm.hopper");
  for (const Candidate& c : CandidatesOf(kernel, p, Device())) {
    const Parameters& set = c.variant.parameters;
    const int64_t tiles = set["ping_pong"] != 0 ? set["consumers"] : 1;
    EXPECT_EQ(c.variant.launch.dynamic_shared_bytes,
              kernel.variant(plain, set).launch.dynamic_shared_bytes + tiles * set["tile_m"] * 8);
  }
}

// Rows of 512 terms in parts of 16, which need be neither in the tile's lines nor along k.
Problem PartsGemm() {
  Problem p = MomentsGemm(DType::kBF16, MathMode::kBf16);
  std::get<GemmAttrs>(p.attrs).part_terms = 16;
  p.inputs.push_back(DenseView(DType::kF32, {256, 64}));
  p.core_inputs = 3;
  return p;
}

TEST(CudaRefusals, OfTheHopperProductThatReadsMomentsOfParts) {
  const char* key = "cuda.gemm.hopper";
  const Problem p = PartsGemm();
  Edits swapped = HopperProductTile();
  for (const auto& edit : Edits{{"split", 2}, {"cluster", 2}, {"swap", 1}}) swapped.push_back(edit);
  EXPECT_EQ(Refused(key, p, swapped), "");
  Problem across = p;
  across.inputs[0] = {DType::kBF16, {256, 512}, {1, 256}, 0};
  EXPECT_EQ(FindKernel(key)->supports(across, Device()), "");
}

Problem StoredPartsGemm(int64_t columns) {
  GemmAttrs attrs;
  attrs.part_columns = columns;
  Problem p = ProblemOf(
      Family::kGemm, attrs, 2,
      {DenseView(DType::kBF16, {256, 512}), DenseView(DType::kBF16, {512, 768})},
      {DenseView(DType::kBF16, {256, 768}), DenseView(DType::kF32, {256, 768 / columns * 2})});
  p.math = MathMode::kBf16;
  return p;
}

TEST(CudaRefusals, OfTheHopperProductThatStoresMomentsOfParts) {
  const char* key = "cuda.gemm.hopper";
  const Problem p = StoredPartsGemm(64);
  const auto with = [&](const Edits& edits) {
    Edits all = HopperProductTile();
    all.insert(all.end(), edits.begin(), edits.end());
    return all;
  };
  EXPECT_EQ(Refused(key, p, with({{"vector", 4}})), "");
  EXPECT_EQ(Refused(key, p, with({{"swap", 1}})), "");
  EXPECT_EQ(Refused(key, p, with({{"split", 2}, {"cluster", 2}, {"swap", 1}})), "");
  ExpectParametersRefused(
      key, p,
      {{"a tile of 96 columns has no whole parts of 64", with({{"tile_n", 96}})},
       {"turned tiles of 96 rows store no moments of parts",
        with({{"tile_m", 96}, {"swap", 1}, {"stages", 4}})},
       {"stores moments of parts with runs of 2 results and more", with({{"vector", 1}})}});
  ExpectUnsupported(key, StoredPartsGemm(32), "stores moments of 64 columns, not of 32");
  Problem turned = p;
  turned.outputs[0] = {DType::kBF16, {256, 768}, {1, 256}, 0};
  ExpectUnsupported(key, turned, "stores moments of results that are contiguous along n alone");
  Problem halves = p;
  std::get<GemmAttrs>(halves.attrs).halves = 2;
  halves.inputs[1] = DenseView(DType::kBF16, {512, 1536});
  halves.epilogue = *ParseExpr("(%0 = in 0 : f32; %1 = in 1 : f32; %2 = mul %0 %1 : f32) -> %2");
  ExpectUnsupported(key, halves, "stores no moments of results that are made of two halves");
}

// Products with few rows are made of the same tiles, whose columns are then whole parts.
TEST(CudaRefusals, OfTheStreamingProductWithMomentsOfParts) {
  const char* key = "cuda.gemm.stream_rows";
  const auto rows = [](Problem p) {
    for (std::vector<View>* views : {&p.inputs, &p.outputs}) {
      for (View& v : *views) {
        if (v.shape[0] == 256) v = DenseView(v.dtype, {32, v.shape[1]});
      }
    }
    p.inputs[1].strides = {1, p.inputs[1].shape[0]};
    return p;
  };
  const Problem reads = rows(PartsGemm()), stores = rows(StoredPartsGemm(64));
  EXPECT_EQ(Refused(key, reads, {}), "");
  EXPECT_EQ(Refused(key, stores, {}), "");
  EXPECT_EQ(Refused(key, stores, {{"tile_n", 64}}), "");
  ExpectParametersRefused(key, stores,
                          {{"a tile of 48 columns has no whole parts of 64", {{"tile_n", 48}}}});
  for (const Candidate& c : CandidatesOf(*FindKernel(key), stores, Device()))
    EXPECT_EQ(c.variant.parameters["tile_n"] % 64, 0);
  ExpectUnsupported(key, rows(MomentsGemm(DType::kBF16, MathMode::kBf16)), "sums up no moments");
}

// Four warps of a swapped tile join what they have of a line.
TEST(CudaRefusals, StoredPartsOfSwappedTilesTakeSharedMemory) {
  const Problem p = StoredPartsGemm(64);
  Problem plain = p;
  std::get<GemmAttrs>(plain.attrs).part_columns = 0;
  plain.outputs.pop_back();
  const KernelInfo& kernel = *FindKernel("cuda.gemm.hopper");
  int swapped = 0;
  for (const Candidate& c : CandidatesOf(kernel, p, Device())) {
    const Parameters& set = c.variant.parameters;
    const bool joins = set["swap"] != 0 && set["split"] == 1;
    EXPECT_EQ(c.variant.launch.dynamic_shared_bytes,
              kernel.variant(plain, set).launch.dynamic_shared_bytes +
                  (joins ? set["consumers"] * 32 * std::min<int64_t>(64, set["tile_m"]) : 0));
    swapped += joins ? 1 : 0;
  }
  EXPECT_GT(swapped, 0);
}

// What a kernel says of a problem with moments; products with few rows alone are for stream_rows.
constexpr std::string_view kTooManyRows = "is for up to 64 rows, here are 256";

TEST(CudaRefusals, OtherProductsStoreNoMoments) {
  const Problem p = StoredPartsGemm(64);
  for (const KernelInfo& kernel : KernelsOf(Family::kGemm)) {
    const bool takes =
        kernel.key == "cuda.gemm.hopper" || kernel.key == ReferenceKey(Family::kGemm);
    const DeviceSpec device = *FindDevice(kernel.backend == Backend::kCpu ? "cpu:avx512" : "cuda");
    const bool library = kernel.key == "cublaslt.matmul";
    EXPECT_EQ(kernel.supports(p, device),
              takes                                   ? ""
              : kernel.key == "cuda.gemm.stream_rows" ? kTooManyRows
              : library ? "cannot take the step: it stores moments of its results"
                        : "does not store the moments of its results")
        << kernel.key;
  }
}

TEST(CudaRefusals, OtherProductsTellNoMoments) {
  const Problem p = MomentsGemm(DType::kBF16, MathMode::kBf16);
  int refused = 0;
  for (const KernelInfo& kernel : KernelsOf(Family::kGemm)) {
    const bool takes =
        kernel.key == "cuda.gemm.hopper" || kernel.key == ReferenceKey(Family::kGemm);
    const DeviceSpec device = *FindDevice(kernel.backend == Backend::kCpu ? "cpu:avx512" : "cuda");
    const std::string why = kernel.supports(p, device);
    const bool library = kernel.key == "cublaslt.matmul";
    const bool sums = kernel.key == "cuda.gemm.stream_rows";
    EXPECT_EQ(why, takes     ? ""
                   : sums    ? "sums up no moments, it reads those of parts alone"
                   : library ? "cannot take the step: its epilogue sees moments of rows"
                             : "does not tell the moments of rows")
        << kernel.key;
    refused += takes ? 0 : 1;
  }
  EXPECT_GT(refused, 4);
}

}  // namespace
}  // namespace aicf
