// What cuda.gemm.stream and cuda.gemm.stream_rows refuse, each rule broken once.
#include <gtest/gtest.h>

#include "kernels/cuda/refusals_testing.h"

namespace aicf {
namespace {

using namespace abi;           // NOLINT(google-build-using-namespace)
using namespace abi::testing;  // NOLINT(google-build-using-namespace)

constexpr const char* kRow = "cuda.gemm.stream";
constexpr const char* kRows = "cuda.gemm.stream_rows";

// [m, k] x [k, n] with k innermost in B.
Problem Product(int64_t m, int64_t k, int64_t n, DType dtype = DType::kBF16) {
  Problem p =
      ProblemOf(Family::kGemm, GemmAttrs{}, 2,
                {DenseView(dtype, {m, k}), {dtype, {k, n}, {1, k}, 0}}, {DenseView(dtype, {m, n})});
  p.math = dtype == DType::kF32 ? MathMode::kTf32 : MathMode::kBf16;
  return p;
}

TEST(CudaRefusals, OfProductsThatStream) {
  EXPECT_EQ(Refused(kRow, Product(1, 4096, 4096), {}), "");
  ExpectUnsupported(kRow, Product(2, 4096, 4096), "is for one row, here are 2");
  ExpectUnsupported(kRow, Product(1, 4096, 0), "is empty");
  ExpectUnsupported(kRow, Product(1, 0, 64), "is empty");
  ExpectUnsupported(kRow, Product(1, 4100, 64), "in whole vectors of 16 bytes");
  EXPECT_EQ(Refused(kRow, Product(1, 32768, 64), {}), "");
  ExpectUnsupported(kRow, Product(1, 32776, 64), "too long columns for its registers");
  ExpectUnsupported(kRow, Product(1, 32768, 64, DType::kF32), "too long columns for its shared");
  Problem across = Product(1, 4096, 4096);
  across.inputs[1] = DenseView(DType::kBF16, {4096, 4096});
  ExpectUnsupported(kRow, across, "contiguous along k");
  Problem apart = Product(1, 4096, 64);
  apart.inputs[1].strides = {1, 4100};
  ExpectUnsupported(kRow, apart, "in whole vectors of 16 bytes");
  apart.inputs[1].strides = {1, 4104};
  EXPECT_EQ(Unsupported(kRow, apart), "");
  const Problem batch =
      ProblemOf(Family::kGemm, GemmAttrs{}, 2,
                {DenseView(DType::kF16, {2, 1, 64}), {DType::kF16, {2, 64, 64}, {4096, 1, 64}, 0}},
                {DenseView(DType::kF16, {2, 1, 64})});
  ExpectUnsupported(kRow, batch, "is for a single product, here are 2");
  apart.inputs[1].offset = 4;
  ExpectUnsupported(kRow, apart, "in whole vectors of 16 bytes");
  ExpectUnsupported(kRow, Product(1, 4096, 64, DType::kF8E4M3FN), "f32, f16 and bf16 only");
  ExpectUnsupported(kRow, Product(1, 4096, 64, DType::kI32), "f32, f16 and bf16 only");
  Problem wide = Product(1, 64, 64);
  wide.inputs[1] = {DType::kBF16, {64, kMany + 1}, {1, 0}, 0};
  wide.outputs[0] = Repeated({1, kMany + 1}, DType::kBF16);
  EXPECT_EQ(Unsupported(kRow, Product(1, 64, kMany)), "");
  EXPECT_EQ(Unsupported(kRow, wide), "has too many columns");
  const DeviceSpec older = *FindDevice("cuda:sm_80");
  EXPECT_NE(FindKernel(kRow)->supports(Product(1, 4096, 4096), older), "");
}

// The copy engine takes columns in any order, and the same one more than once.
TEST(CudaRefusals, OfProductsThatStreamAreFew) {
  Problem p = Product(1, 4096, 64);
  p.inputs[1].strides = {1, 0};
  EXPECT_EQ(Refused(kRow, p, {}), "");
  p.inputs[1] = {DType::kBF16, {4096, 64}, {1, -4096}, 63 * 4096};
  EXPECT_EQ(Refused(kRow, p, {}), "");
  p.inputs[1].offset += 8;
  EXPECT_EQ(Refused(kRow, p, {}), "");
}

TEST(CudaReads, ProductsThatStreamReadWeightsAndGainsAhead) {
  const KernelInfo& kernel = *FindKernel(kRow);
  Problem p = Product(1, 4096, 64);
  EXPECT_TRUE(kernel.reads_ahead(p, 1));
  EXPECT_FALSE(kernel.reads_ahead(p, 0));
  EXPECT_FALSE(kernel.reads_ahead(p, 2));
  GemmAttrs attrs;
  attrs.rms_epsilon = 1e-5;
  p.attrs = attrs;
  p.inputs.push_back(DenseView(DType::kF32, {1, 4096}));
  p.core_inputs = 3;
  EXPECT_TRUE(kernel.reads_ahead(p, 2));
}

TEST(CudaRefusals, OfRings) {
  const Problem p = Product(1, 8192, 4096);
  ExpectParametersRefused(kRow, p,
                          {{"stages for each of its groups alike", {{"stages", 3}, {"groups", 2}}},
                           {"no more stages on their way", {{"stages", 2}, {"flight", 3}}},
                           {"more than 32 warps", {{"warps", 16}, {"groups", 2}}},
                           {"would hold 128 elements of the row, at most 64", {{"warps", 2}}},
                           {"bytes of shared memory, there are", {{"columns", 8}}}});
}

TEST(CudaRefusals, OfProductsWhoseRowsStream) {
  EXPECT_EQ(Refused(kRows, Product(64, 4096, 4096), {}), "");
  EXPECT_EQ(Refused(kRows, Product(2, 4096, 4096), {}), "");
  EXPECT_EQ(Refused(kRows, Product(2, 4096, 4096, DType::kF32), {}), "");
  ExpectUnsupported(kRows, Product(65, 4096, 4096), "is for up to 64 rows, here are 65");
  ExpectUnsupported(kRows, Product(32, 4096, 0), "is empty");
  ExpectUnsupported(kRows, Product(32, 4100, 64), "no multiple of 8");
  Problem bytes = Product(32, 4096, 64, DType::kF8E4M3FN);
  bytes.math = MathMode::kFp8;
  ExpectUnsupported(kRows, bytes, "f16, bf16 and f32 as tf32 only");
  Problem batch =
      ProblemOf(Family::kGemm, GemmAttrs{}, 2,
                {DenseView(DType::kF16, {2, 8, 64}), {DType::kF16, {2, 64, 64}, {4096, 1, 64}, 0}},
                {DenseView(DType::kF16, {2, 8, 64})});
  batch.math = MathMode::kFp16;
  ExpectUnsupported(kRows, batch, "is for a single product, here are 2");
  const DeviceSpec older = *FindDevice("cuda:sm_80");
  EXPECT_NE(FindKernel(kRows)->supports(Product(32, 4096, 4096), older), "");
}

TEST(CudaRefusals, OfTilesOfStreamedRows) {
  ExpectParametersRefused(
      kRows, Product(32, 4096, 4096),
      {{"has no room for 32 rows", {{"tile_m", 16}}},
       {"columns are none that tensor cores take", {{"tile_m", 40}}},
       {"are no whole parts of 64", {{"tile_n", 40}}},
       {"bytes of shared memory, there are", {{"stages", 24}, {"tile_n", 256}}}});
}

// Columns are cut where the results lie along them; elsewhere a tile has whole parts of 64.
TEST(CudaRefusals, OfCutTilesWhereResultsLieAlongRows) {
  Problem p = Product(32, 4096, 4096);
  EXPECT_EQ(Refused(kRows, p, {{"tile_n", 48}}), "");
  p.outputs[0] = {DType::kBF16, {32, 4096}, {1, 32}, 0};
  EXPECT_EQ(Refused(kRows, p, {{"tile_n", 64}}), "");
  ExpectParametersRefused(kRows, p, {{"are no whole parts of 64", {{"tile_n", 48}}}});
}

TEST(CudaReads, ProductsWhoseRowsStreamReadWeightsAhead) {
  const KernelInfo& kernel = *FindKernel(kRows);
  const Problem p = Product(32, 4096, 64);
  EXPECT_TRUE(kernel.reads_ahead(p, 1));
  EXPECT_FALSE(kernel.reads_ahead(p, 0));
}

}  // namespace
}  // namespace aicf
