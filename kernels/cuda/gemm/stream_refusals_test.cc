// What cuda.gemm.stream refuses, each rule broken once.
#include <gtest/gtest.h>

#include "kernels/cuda/refusals_testing.h"

namespace aicf {
namespace {

using namespace abi;           // NOLINT(google-build-using-namespace)
using namespace abi::testing;  // NOLINT(google-build-using-namespace)

constexpr const char* kKey = "cuda.gemm.stream";

// [m, k] x [k, n] with k innermost in B.
Problem Product(int64_t m, int64_t k, int64_t n, DType dtype = DType::kBF16) {
  Problem p =
      ProblemOf(Family::kGemm, GemmAttrs{}, 2,
                {DenseView(dtype, {m, k}), {dtype, {k, n}, {1, k}, 0}}, {DenseView(dtype, {m, n})});
  p.math = dtype == DType::kF32 ? MathMode::kTf32 : MathMode::kBf16;
  return p;
}

TEST(CudaRefusals, OfProductsThatStream) {
  EXPECT_EQ(Refused(kKey, Product(1, 4096, 4096), {}), "");
  ExpectUnsupported(kKey, Product(2, 4096, 4096), "is for one row, here are 2");
  ExpectUnsupported(kKey, Product(1, 4096, 0), "is empty");
  ExpectUnsupported(kKey, Product(1, 4100, 64), "in whole vectors of 16 bytes");
  EXPECT_EQ(Refused(kKey, Product(1, 32768, 64), {}), "");
  ExpectUnsupported(kKey, Product(1, 32776, 64), "too long columns for its registers");
  ExpectUnsupported(kKey, Product(1, 32768, 64, DType::kF32), "too long columns for its shared");
  Problem across = Product(1, 4096, 4096);
  across.inputs[1] = DenseView(DType::kBF16, {4096, 4096});
  ExpectUnsupported(kKey, across, "contiguous along k");
  Problem apart = Product(1, 4096, 64);
  apart.inputs[1].strides = {1, 4100};
  ExpectUnsupported(kKey, apart, "in whole vectors of 16 bytes");
  apart.inputs[1].strides = {1, 4104};
  EXPECT_EQ(Unsupported(kKey, apart), "");
  const Problem batch =
      ProblemOf(Family::kGemm, GemmAttrs{}, 2,
                {DenseView(DType::kF16, {2, 1, 64}), {DType::kF16, {2, 64, 64}, {4096, 1, 64}, 0}},
                {DenseView(DType::kF16, {2, 1, 64})});
  ExpectUnsupported(kKey, batch, "is for a single product, here are 2");
  apart.inputs[1].offset = 4;
  ExpectUnsupported(kKey, apart, "in whole vectors of 16 bytes");
  ExpectUnsupported(kKey, Product(1, 4096, 64, DType::kF8E4M3FN), "f32, f16 and bf16 only");
  ExpectUnsupported(kKey, Product(1, 4096, 64, DType::kI32), "f32, f16 and bf16 only");
  const DeviceSpec older = *FindDevice("cuda:sm_80");
  EXPECT_NE(FindKernel(kKey)->supports(Product(1, 4096, 4096), older), "");
}

// The copy engine takes columns in any order, and the same one more than once.
TEST(CudaRefusals, OfProductsThatStreamAreFew) {
  Problem p = Product(1, 4096, 64);
  p.inputs[1].strides = {1, 0};
  EXPECT_EQ(Refused(kKey, p, {}), "");
  p.inputs[1] = {DType::kBF16, {4096, 64}, {1, -4096}, 63 * 4096};
  EXPECT_EQ(Refused(kKey, p, {}), "");
  p.inputs[1].offset += 8;
  EXPECT_EQ(Refused(kKey, p, {}), "");
}

TEST(CudaReads, ProductsThatStreamReadWeightsAndGainsAhead) {
  const KernelInfo& kernel = *FindKernel(kKey);
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
  ExpectParametersRefused(kKey, p,
                          {{"stages for each of its groups alike", {{"stages", 3}, {"groups", 2}}},
                           {"no more stages on their way", {{"stages", 2}, {"flight", 3}}},
                           {"more than 32 warps", {{"warps", 16}, {"groups", 2}}},
                           {"would hold 128 elements of the row, at most 64", {{"warps", 2}}},
                           {"bytes of shared memory, there are", {{"columns", 8}}}});
}

}  // namespace
}  // namespace aicf
