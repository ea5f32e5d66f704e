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

// Scales from denormal numbers to 1e28, zero points at the ends: nothing in between may be flushed,
// contracted, or leave i32 on its way to a code.
TEST(CpuIntegerGemm, ScalesOfEveryMagnitude) {
  Rng rng(304);
  int ran = 0;
  for (int i = 0; i < 240 && !::testing::Test::HasFailure(); ++i) {
    const auto [left, right] = RandomIntegers(rng);
    KernelCase c = IntegerGemm(rng, left, right);
    AddExtremeRequantisation(rng, c.problem.outputs[0].shape.rank() - 1, &c);
    FillIntegers(rng, &c);
    FillScales(rng, &c);
    ran += ExpectExactVariants(rng, c, std::to_string(i));
  }
  EXPECT_GE(ran, 2 * 240);
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

// What quantises and dequantises again and again after a product, as hard swish between the steps
// of a quantised model: in many results it comes from a table, in few it does not.
uint16_t Requantised(abi::ExprBuilder& b, uint16_t v, double scale, double zero) {
  using abi::ExprOp;
  const auto c = [&](double x) { return b.Const(x, DType::kF32); };
  v = b.Unary(ExprOp::kRound, b.Binary(ExprOp::kDiv, v, c(scale)));
  v = b.Binary(ExprOp::kAdd, v, c(zero));
  v = b.Binary(ExprOp::kMin, b.Binary(ExprOp::kMax, v, c(-128)), c(127));
  v = b.Cast(b.Cast(v, DType::kI8), DType::kF32);
  return b.Binary(ExprOp::kMul, b.Binary(ExprOp::kSub, v, c(zero)), c(scale));
}

TEST(CpuIntegerGemm, FunctionsOfQuantisedValues) {
  using abi::ExprOp;
  Rng rng(303);
  for (const auto& [m, n] : {std::pair<int64_t, int64_t>{3, 5}, {90, 130}, {200, 48}}) {
    for (DType to : {DType::kF32, DType::kI8}) {
      KernelCase c = IntegerGemm(rng, DType::kU8, DType::kI8);
      c.problem.inputs = {abi::DenseView(DType::kU8, {m, 40}), abi::DenseView(DType::kI8, {40, n})};
      c.problem.outputs = {abi::DenseView(to, {m, n})};
      abi::ExprBuilder b;
      const uint16_t sums = b.Cast(b.Input(0, DType::kI32), DType::kF32);
      const auto f = [&](double x) { return b.Const(x, DType::kF32); };
      const uint16_t x = Requantised(b, b.Binary(ExprOp::kMul, sums, f(0.001)), 0.0371, -7);
      uint16_t gate = Requantised(b, b.Binary(ExprOp::kAdd, x, f(3)), 0.0235, -128);
      gate = Requantised(b, b.Binary(ExprOp::kMul, x, gate), 0.18, 12);
      uint16_t y = Requantised(b, b.Binary(ExprOp::kDiv, gate, f(6)), 0.03, 12);
      if (to == DType::kI8) y = b.Cast(y, DType::kI8);
      c.problem.epilogue = b.Finish({y});
      FillIntegers(rng, &c);
      EXPECT_GE(ExpectExactVariants(rng, c, std::to_string(m)), 2);
    }
  }
}

}  // namespace
}  // namespace aicf::cpu::testing
