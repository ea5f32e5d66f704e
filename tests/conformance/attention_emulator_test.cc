// cuda.attention.tensor executed on this machine, where its groups of warps have no keys to share.
#include <gtest/gtest.h>

#include <cstring>

#include "kernels/abi/attention.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/emulator.h"

namespace aicf::conformance {
namespace {

// Three requests of one head and 32 rows; two of them have no valid key. Queries are long enough
// that every thread copies some.
Case RequestsWithoutKeys() {
  Case c;
  abi::AttentionAttrs a;
  a.scale = 0.125;
  a.lengths = true;
  c.problem.family = abi::Family::kAttention;
  c.problem.attrs = a;
  c.problem.math = abi::MathMode::kFp16;
  const auto f16 = [](const Dims& shape) { return abi::DenseView(DType::kF16, shape); };
  c.problem.inputs = {f16({3, 1, 32, 64}), f16({3, 1, 90, 64}), f16({3, 1, 90, 16}),
                      abi::DenseView(DType::kI32, {3})};
  c.problem.core_inputs = 4;
  c.problem.outputs = {f16({3, 1, 32, 16})};
  Random random(3);
  FillBuffers(random, c, false);
  const int32_t lengths[] = {0, 0, 70};
  std::memcpy(c.buffers[3].data(), lengths, sizeof lengths);
  c.tolerance = {1, 5e-3};  // eight roundings of weights and factors to 11 bits
  return c;
}

// The queries' copies, which nobody has waited for, must not land on the sums of the groups.
TEST(EmulatedTensorAttention, AddsGroupsThatHaveSeenNoKey) {
  if (!CanEmulate()) {
    GTEST_SKIP() << "needs a C++ compiler (c++) at test time";
  }
  const abi::KernelInfo& kernel = *abi::FindKernel("cuda.attention.tensor");
  const Case c = RequestsWithoutKeys();
  for (const int64_t groups : {1, 2, 4}) {
    const abi::Parameters set = {{"warps", 2}, {"key_warps", groups}};
    const Result<Buffers> got = EmulatedBuffers(kernel, c, kernel.variant(c.problem, set));
    ASSERT_TRUE(got.ok()) << got.status().ToString();
    EXPECT_EQ(Difference(c, *got, RunReference(c)), "") << groups << " groups";
  }
}

}  // namespace
}  // namespace aicf::conformance
