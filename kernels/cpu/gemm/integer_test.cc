/// The products of integers, exact against the reference.
#include "kernels/cpu/gemm/integer_case.h"

namespace aicf::cpu::testing {
namespace {

KernelCase IntegerGemm(Rng& rng, DType left, DType right) {
  KernelCase c;
  c.problem.family = abi::Family::kGemm;
  c.problem.attrs = abi::GemmAttrs{};
  c.problem.core_inputs = 2;
  Dims batch;
  for (int64_t i = Uniform(rng, 0, 3); i > 1; --i) batch.push_back(Uniform(rng, 1, 3));
  const int64_t m = Uniform(rng, 1, Uniform(rng, 0, 1) ? 4 : 60), n = Uniform(rng, 1, 170);
  const int64_t k = Uniform(rng, 0, 2) == 0 ? Uniform(rng, 1, 20) : 4 * Uniform(rng, 1, 60);
  Dims a = batch, b = batch, out = batch;
  for (int64_t d : {m, k}) a.push_back(d);
  for (int64_t d : {k, n}) b.push_back(d);
  for (int64_t d : {m, n}) out.push_back(d);
  c.problem.inputs = {RandomView(rng, left, a), RandomView(rng, right, b)};
  if (Uniform(rng, 0, 1) == 0) c.problem.inputs[0] = abi::DenseView(left, a);
  for (int axis = 0; axis < batch.rank(); ++axis) {
    if (Uniform(rng, 0, 2) == 0) c.problem.inputs[1].strides[axis] = 0;
  }
  c.problem.outputs = {RandomView(rng, DType::kI32, out)};
  return c;
}

TEST(CpuIntegerGemm, EveryVariantIsExact) {
  Rng rng(301);
  int ran = 0;
  for (int i = 0; i < 240 && !::testing::Test::HasFailure(); ++i) {
    const auto [left, right] = RandomIntegers(rng);
    KernelCase c = IntegerGemm(rng, left, right);
    if (i % 3 != 0) AddRequantisation(rng, c.problem.outputs[0].shape.rank() - 1, &c);
    FillIntegers(rng, &c);
    const Status valid = abi::ValidateProblem(c.problem);
    ASSERT_TRUE(valid.ok()) << valid.ToString();
    ran += ExpectExactVariants(rng, c, std::to_string(i));
  }
  EXPECT_GE(ran, 2 * 240);  // the baseline alone makes two runs of every case
}

// Sums of the largest products: two of them exceed 16 bits, and with i16 four exceed 32.
TEST(CpuIntegerGemm, TheLargestProducts) {
  Rng rng(302);
  for (DType left : {DType::kU8, DType::kI8, DType::kI16}) {
    for (DType right : {DType::kI8, DType::kU8, DType::kI16}) {
      KernelCase c = IntegerGemm(rng, left, right);
      c.Fill(rng);
      const auto fill = [&](int i, DType d) {
        const bool is_signed = KindOf(d) == DTypeKind::kSigned;
        const int value = DTypeBytes(d) == 2 ? -32768 : is_signed ? -128 : 255;
        const auto bytes = static_cast<size_t>(DTypeBytes(d));
        for (size_t at = 0; at + bytes <= c.buffers[i].size(); at += bytes) {
          std::memcpy(&c.buffers[i][at], &value, bytes);
        }
      };
      fill(0, left);
      fill(1, right);
      EXPECT_GE(ExpectExactVariants(rng, c, "ends"), 2);
    }
  }
}

}  // namespace
}  // namespace aicf::cpu::testing
