// Random epilogues that products compute in registers give what the expression says: exactly, or
// where it holds functions, within what the table of their accuracy allows.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "kernels/abi/kernel.h"
#include "kernels/cpu/common/test_interval.h"
#include "kernels/cpu/functions.h"
#include "kernels/cpu/gemm/chain_plan.h"

namespace aicf::cpu {
namespace {

using abi::ExprOp;

constexpr int64_t kRows = 7, kColumns = 45;
constexpr int kColumnOperand = 1, kTensorOperand = 2;

// Expressions of a value and the two operands.
class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}

  abi::Expr Make(bool functions) {
    functions_ = functions;
    uint16_t v = b_.Input(0, DType::kF32);
    for (int left = 1 + Pick(5); left > 0; --left) v = Pick(3) == 0 ? Gate(v) : Simple(v);
    return b_.Finish({v});
  }

 private:
  int Pick(int count) { return static_cast<int>(random_() % static_cast<uint32_t>(count)); }
  uint16_t Number() {
    constexpr double kNumbers[] = {3, 0.5, -0.25, 6, 0.1, -1.7, 1, 1.0 / 6, 0.044715, -0.0};
    return b_.Const(kNumbers[Pick(10)], DType::kF32);
  }
  uint16_t Operand() { return Pick(2) == 0 ? Number() : b_.Input(1 + Pick(2), DType::kF32); }
  uint16_t Either(ExprOp op, uint16_t v, uint16_t other) {
    return Pick(2) == 0 ? b_.Binary(op, v, other) : b_.Binary(op, other, v);
  }

  uint16_t Simple(uint16_t v) {
    switch (Pick(functions_ ? 11 : 8)) {
      case 0:
        return Either(ExprOp::kAdd, v, Operand());
      case 1:
        return Either(ExprOp::kMul, v, Operand());
      case 2:
        return Either(ExprOp::kSub, v, Number());
      case 3:
        return b_.Binary(ExprOp::kDiv, v, Number());
      case 4:
        return Either(Pick(2) == 0 ? ExprOp::kMin : ExprOp::kMax, v, Number());
      case 5:
        return b_.Unary(Pick(2) == 0 ? ExprOp::kNeg : ExprOp::kRoundF16, v);
      case 6:
        return b_.Fma(v, Operand(), Operand());
      case 7:
        return b_.Fma(Operand(), Operand(), v);
      case 8:
        return b_.Unary(ExprOp::kSigmoid, v);
      case 9:
        return b_.Unary(ExprOp::kTanh, v);
      default:
        return b_.Unary(ExprOp::kErf, v);
    }
  }

  // A value and a function of it.
  uint16_t Gate(uint16_t v) {
    uint16_t gate = v;
    for (int left = Pick(4); left > 0; --left) gate = Simple(gate);
    if (Pick(4) == 0) gate = b_.Binary(ExprOp::kMul, gate, v);
    const uint16_t value = Pick(3) == 0 ? Simple(v) : v;
    switch (Pick(3)) {
      case 0:
        return b_.Fma(value, gate, Operand());
      case 1:
        return Either(ExprOp::kAdd, value, gate);
      default:
        return Either(ExprOp::kMul, value, gate);
    }
  }

  std::mt19937 random_;
  abi::ExprBuilder b_;
  bool functions_ = false;
};

// y = epilogue(a b) with the outer product of powers of two and numbers, which rounds nothing.
struct Product {
  explicit Product(const abi::Expr& epilogue, uint32_t seed) {
    problem.family = abi::Family::kGemm;
    problem.attrs = abi::GemmAttrs{};
    const abi::View out = abi::DenseView(DType::kF32, {kRows, kColumns});
    abi::View column = out;
    column.strides[0] = 0;
    problem.inputs = {abi::DenseView(DType::kF32, {kRows, 1}),
                      abi::DenseView(DType::kF32, {1, kColumns}), column, out};
    problem.outputs = {out};
    problem.core_inputs = 2;
    problem.epilogue = epilogue;
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> small(-3, 3), large(-100, 100);
    for (int64_t r = 0; r < kRows; ++r) a.push_back(std::ldexp(r % 2 == 0 ? 1.0f : -1.0f, r - 3));
    for (int64_t c = 0; c < kColumns; ++c) b.push_back(c % 5 == 0 ? large(random) : small(random));
    for (int64_t c = 0; c < kColumns; ++c) columns.push_back(small(random));
    for (int64_t i = 0; i < kRows * kColumns; ++i) tensor.push_back(small(random));
    const float special[] = {0, INFINITY, -INFINITY, NAN, 0x1p-126f, 0x1.fffffep127f};
    for (size_t i = 0; i < std::size(special); ++i) b[i * 3 + 1] = special[i];
  }

  std::vector<float> Run(const abi::KernelInfo& kernel) {
    std::vector<float> y(kRows * kColumns);
    void* const buffers[] = {a.data(), b.data(), columns.data(), tensor.data(), y.data()};
    RunSerial(kernel.key, problem, buffers);
    return y;
  }

  // What the table allows y[i] to be.
  Interval Expected(int64_t i) const {
    // A sum starts from +0.
    const float raw =
        0.0f + a[static_cast<size_t>(i / kColumns)] * b[static_cast<size_t>(i % kColumns)];
    const float inputs[] = {raw, columns[static_cast<size_t>(i % kColumns)],
                            tensor[static_cast<size_t>(i)]};
    return EvalInterval(problem.epilogue, inputs);
  }

  bool IsChain() const {
    TileEpilogue e;
    e.input_count = 2;
    e.inputs[kColumnOperand - 1].col_stride = 1;
    e.inputs[kTensorOperand - 1].col_stride = 1;
    e.inputs[kTensorOperand - 1].row_stride = kColumns;
    e.output_count = 1;
    e.outputs[0].col_stride = 1;
    PlanChain(problem.epilogue, true, &e);
    return e.is_chain;
  }

  abi::Problem problem;
  std::vector<float> a, b, columns, tensor;
};

void Check(bool functions, int least_chains) {
  int chains = 0, judged = 0, vague = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    Product product(Generator(seed).Make(functions), seed);
    if (!product.IsChain()) continue;
    ++chains;
    for (const char* isa : {"baseline", "avx2", "avx512"}) {
      const abi::KernelInfo* kernel = abi::FindKernel(StrCat("cpu.gemm.panels_", isa));
      ASSERT_NE(kernel, nullptr);
      if (!kernel->supports(product.problem, *abi::FindDevice("cpu")).empty()) continue;
      const std::vector<float> y = product.Run(*kernel);
      for (int64_t i = 0; i < kRows * kColumns; ++i) {
        const Interval want = product.Expected(i);
        const float got = y[static_cast<size_t>(i)];
        ++judged;
        vague += want.vague;
        ASSERT_TRUE(functions || want.IsPoint()) << ToString(product.problem.epilogue);
        ASSERT_TRUE(want.Holds(got))
            << "seed " << seed << ", " << isa << ", element " << i << ": found " << got
            << ", expected " << want.low << " to " << want.high << "\n"
            << ToString(product.problem.epilogue);
      }
    }
  }
  std::printf("%d chains of 400, %d elements, %d of them vague\n", chains, judged, vague);
  EXPECT_GE(chains, least_chains);
  EXPECT_LE(vague, judged / 20);
}

TEST(ChainProperty, ArithmeticIsExactlyWhatTheExpressionSays) { Check(false, 250); }

TEST(ChainProperty, FunctionsStayWithinTheirTable) { Check(true, 250); }

// The judge itself: one unit in the last place too far is seen.
TEST(ChainProperty, AnErrorBeyondTheTableIsSeen) {
  abi::ExprBuilder b;
  const uint16_t x = b.Input(0, DType::kF32);
  const abi::Expr silu = b.Finish({b.Binary(ExprOp::kMul, x, b.Unary(ExprOp::kSigmoid, x))});
  const float input[] = {1.5f};
  const Interval want = EvalInterval(silu, input);
  EXPECT_FALSE(want.IsPoint());
  EXPECT_TRUE(want.Holds(1.2263617f));
  EXPECT_FALSE(want.Holds(std::nextafter(want.high, 10.0f)));
  EXPECT_FALSE(want.Holds(std::nextafter(want.low, 0.0f)));
  EXPECT_FALSE(want.Holds(NAN));
  EXPECT_LT(want.high - want.low, 11 * 0x1p-24f);
}

}  // namespace
}  // namespace aicf::cpu
