// Rows that a product normalises may be far from 1: what cuda.gemm.gemv makes of them, executed on
// this machine, has the range of the normalised rows and not that of the rows themselves.
#include <gtest/gtest.h>

#include <cstring>

#include "base/float16.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/emulator.h"

namespace aicf::conformance {
namespace {

constexpr int64_t kRowLength = 64, kRowColumns = 8;

// A row of f16 whose elements are +-x, a gain of `gain` everywhere, random weights.
Case RowOfSize(float x, float gain) {
  Case c;
  abi::GemmAttrs a;
  a.rms_epsilon = 1e-12;
  c.problem.family = abi::Family::kGemm;
  c.problem.attrs = a;
  c.problem.math = abi::MathMode::kFp16;
  c.problem.inputs = {abi::DenseView(DType::kF16, {1, kRowLength}),
                      {DType::kF16, {kRowLength, kRowColumns}, {1, kRowLength}, 0},
                      {DType::kF32, {1, kRowLength}, {0, 1}, 0}};
  c.problem.core_inputs = 3;
  c.problem.outputs = {abi::DenseView(DType::kF16, {1, kRowColumns})};
  Random random(5);
  FillBuffers(random, c, false);
  for (int64_t k = 0; k < kRowLength; ++k) {
    const uint16_t element = F32ToF16(k % 3 == 0 ? -x : x);
    std::memcpy(c.buffers[0].data() + 2 * k, &element, sizeof element);
    std::memcpy(c.buffers[2].data() + 4 * k, &gain, sizeof gain);
  }
  c.tolerance = {1, 5e-3};  // the reference rounds the normalised row to f16
  return c;
}

TEST(RowNormRange, RowsTimesTheGainMayBeBeyondF16) {
  if (!CanEmulate()) GTEST_SKIP() << "needs a C++ compiler";
  const abi::KernelInfo& kernel = *abi::FindKernel("cuda.gemm.gemv");
  for (const auto& [x, gain] : {std::pair{3e4f, 8.0f}, {2e-5f, 0.01f}}) {
    const Case c = RowOfSize(x, gain);
    const abi::Variant variant =
        kernel.variant(c.problem, {{"along_n", 0}, {"piece", 8}, {"warps", 4}, {"ahead", 0}});
    const Result<Buffers> got = EmulatedBuffers(kernel, c, variant);
    ASSERT_TRUE(got.ok()) << got.status().ToString();
    EXPECT_EQ(Difference(c, *got, RunReference(c)), "") << x;
  }
}

}  // namespace
}  // namespace aicf::conformance
