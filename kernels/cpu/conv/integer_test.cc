/// Convolutions of integers, exact against the reference.
#include "kernels/cpu/conv/conv_case.h"
#include "kernels/cpu/gemm/integer_case.h"

namespace aicf::cpu::testing {
namespace {

TEST(CpuIntegerConv, EveryVariantIsExact) {
  Rng rng(311);
  int ran = 0, cases = 0;
  while (cases < 240 && !::testing::Test::HasFailure()) {
    const auto [left, right] = RandomIntegers(rng);
    Spec s = RandomSpec(rng);
    if (Uniform(rng, 0, 1) == 0 && s.channels > 1) s.channels = 4 * Uniform(rng, 1, 12);
    KernelCase c;
    s.dtype = left;
    if (!MakeConv(rng, s, &c)) continue;
    c.problem.inputs[1].dtype = right;
    c.problem.outputs[0].dtype = DType::kI32;
    if (cases % 3 != 0) AddRequantisation(rng, 1, &c);
    FillIntegers(rng, &c);
    const Status valid = abi::ValidateProblem(c.problem);
    ASSERT_TRUE(valid.ok()) << valid.ToString();
    ran += ExpectExactVariants(rng, c, std::to_string(cases++));
  }
  EXPECT_GE(ran, 220);  // the baseline alone makes one run of nearly every case
}

// As for matrix products, with scales per filter.
TEST(CpuIntegerConv, ScalesOfEveryMagnitude) {
  Rng rng(313);
  int ran = 0, cases = 0;
  while (cases < 160 && !::testing::Test::HasFailure()) {
    const auto [left, right] = RandomIntegers(rng);
    Spec s = RandomSpec(rng);
    KernelCase c;
    s.dtype = left;
    if (!MakeConv(rng, s, &c)) continue;
    c.problem.inputs[1].dtype = right;
    AddExtremeRequantisation(rng, 1, &c);
    FillIntegers(rng, &c);
    FillScales(rng, &c);
    ran += ExpectExactVariants(rng, c, std::to_string(cases++));
  }
  EXPECT_GE(ran, 140);
}

// Rows that meet padding are read through a copy where that fits, else row by row.
TEST(CpuIntegerConv, PaddingOfManyChannels) {
  Rng rng(312);
  for (const int64_t channels : {12, 1024, 3000}) {
    Spec s;
    s.images = 1;
    s.channels = channels;
    s.filters = 20;
    s.in = {3, 17};
    s.kernel = {3, 5};
    s.strides = s.dilations = {1, 1};
    s.pads_begin = s.pads_end = {1, 2};
    for (DType x : {DType::kU8, DType::kI8, DType::kI16}) {
      KernelCase c;
      s.dtype = x;
      ASSERT_TRUE(MakeConv(rng, s, &c));
      c.problem.inputs[1].dtype = DType::kI8;
      c.problem.outputs[0].dtype = DType::kI32;
      FillIntegers(rng, &c);
      EXPECT_GE(ExpectExactVariants(rng, c, std::to_string(channels)), 1);
    }
  }
}

}  // namespace
}  // namespace aicf::cpu::testing
