// What kernels refuse of products that normalise rows, each rule broken once.
#include <gtest/gtest.h>

#include "kernels/cuda/refusals_testing.h"

namespace aicf {
namespace {

using namespace abi;           // NOLINT(google-build-using-namespace)
using namespace abi::testing;  // NOLINT(google-build-using-namespace)

// [m, k] x [k, n] with k innermost in B; one gain for all rows.
Problem NormalizedGemm(int64_t m, int64_t k, int64_t n, DType dtype, MathMode math) {
  GemmAttrs attrs;
  attrs.rms_epsilon = 1e-5;
  Problem p = ProblemOf(
      Family::kGemm, attrs, 3,
      {DenseView(dtype, {m, k}), {dtype, {k, n}, {1, k}, 0}, {DType::kF32, {m, k}, {0, 1}, 0}},
      {DenseView(dtype, {m, n})});
  p.math = math;
  return p;
}

TEST(CudaRefusals, OfRowsThatAreNormalised) {
  const char* key = "cuda.gemm.gemv";
  const auto bf16 = [](int64_t m, int64_t k) {
    return NormalizedGemm(m, k, 64, DType::kBF16, MathMode::kBf16);
  };
  EXPECT_EQ(Refused(key, bf16(1, 64), {}), "");
  ExpectParametersRefused(key, bf16(1, 64),
                          {{"normalises rows only along k", {{"along_n", 1}, {"piece", 1}}}});
  Problem across = bf16(1, 64);
  across.inputs[1] = DenseView(DType::kBF16, {64, 64});
  ExpectUnsupported(key, across, "only where B is contiguous along k");
  // Rows lie in shared memory as they are multiplied: here in 16 bits.
  EXPECT_EQ(Unsupported(key, bf16(8, 3064)), "");
  ExpectUnsupported(key, bf16(8, 3072), "would need 49280 bytes of static");
  ExpectUnsupported(key, NormalizedGemm(8, 1536, 64, DType::kBF16, MathMode::kFp32),
                    "would need 49280 bytes of static");
  EXPECT_EQ(Unsupported(key, NormalizedGemm(8, 1528, 64, DType::kF32, MathMode::kTf32)), "");
}

TEST(CudaRefusals, OtherProductsDoNotNormaliseRows) {
  const Problem p = NormalizedGemm(8, 64, 64, DType::kBF16, MathMode::kBf16);
  const DeviceSpec hopper = *FindDevice("cuda:sm_90a");
  int refused = 0;
  for (const KernelInfo& kernel : KernelsOf(Family::kGemm)) {
    const std::string why = kernel.supports(p, hopper);
    if (kernel.key == "cuda.gemm.gemv" || kernel.key == ReferenceKey(Family::kGemm)) {
      EXPECT_EQ(why, "") << kernel.key;
      continue;
    }
    if (kernel.key == "cuda.gemm.stream") {  // does so for one row
      EXPECT_EQ(why, "is for one row, here are 8");
      continue;
    }
    EXPECT_NE(why, "") << kernel.key;
    if (kernel.backend == Backend::kCuda) {
      EXPECT_EQ(why, "does not normalise rows") << kernel.key;
      ++refused;
    }
  }
  EXPECT_GT(refused, 2);
}

}  // namespace
}  // namespace aicf
