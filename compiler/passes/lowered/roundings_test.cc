// A rounding is a decision: applied with its bound, or left as the model says where a wish asks for
// that.
#include "compiler/passes/lowered/roundings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "compiler/passes/lowered/passes.h"

namespace aicf {
namespace {

using abi::ExprOp;

// y = (x w) / divisor + 1
ir::Lowered Product(double divisor) {
  abi::Problem p;
  p.family = abi::Family::kGemm;
  p.attrs = abi::GemmAttrs{};
  const abi::View view = abi::DenseView(DType::kF32, {2, 2});
  p.inputs = {view, view};
  p.outputs = {view};
  p.core_inputs = 2;
  abi::ExprBuilder b;
  const uint16_t quotient =
      b.Binary(ExprOp::kDiv, b.Input(0, DType::kF32), b.Const(divisor, DType::kF32));
  p.epilogue = b.Finish({b.Binary(ExprOp::kAdd, quotient, b.Const(1, DType::kF32))});
  ir::Lowered lowered;
  ir::LoweredStep step;
  step.problem = p;
  step.sources = {"product", "div", "add"};
  lowered.steps.push_back(step);
  return lowered;
}

struct RewriteResult {
  DecisionLog log;
  abi::Expr epilogue;
};

RewriteResult Rewrite(double divisor, const Wishes* wishes) {
  RewriteResult out;
  ir::Lowered lowered = Product(divisor);
  PassContext context;
  context.decisions = &out.log;
  context.wishes = wishes;
  EXPECT_TRUE(FormReciprocals(lowered, context).ok());
  EXPECT_TRUE(FormFma(lowered, context).ok());
  out.epilogue = lowered.steps[0].problem.epilogue;
  return out;
}

bool Has(const abi::Expr& expr, ExprOp op) {
  return std::ranges::any_of(expr.nodes, [&](const abi::ExprNode& n) { return n.op == op; });
}

TEST(Roundings, AQuotientBecomesAProductAndThenFma) {
  const RewriteResult out = Rewrite(6, nullptr);
  EXPECT_FALSE(Has(out.epilogue, ExprOp::kDiv));
  EXPECT_TRUE(Has(out.epilogue, ExprOp::kFma));
  ASSERT_EQ(out.log.decisions().size(), 2u);
  EXPECT_EQ(out.log.decisions()[0].choice, "reciprocal, 1 times");
  EXPECT_EQ(out.log.decisions()[1].choice, "fma, 1 times");
}

// Half a unit for rounding the product, and what rounding the reciprocal costs before that.
TEST(Roundings, TheReasonHoldsTheBoundForTheDivisorAtHand) {
  const auto reason = [](double divisor) {
    return Rewrite(divisor, nullptr).log.decisions()[0].sentence;
  };
  EXPECT_NE(reason(4).find("off by at most 0.5 ULP"), std::string::npos) << reason(4);
  EXPECT_EQ(reason(6).find("off by at most 0.5 ULP"), std::string::npos) << reason(6);
  // No f32 number's product is further off than that.
  double worst = 0;
  const float r = 1.0f / 6.0f;
  for (float x = 1; x < 2; x += 5 * 0x1p-23f) {
    const double exact = static_cast<double>(x) / 6;
    int exponent = 0;
    std::frexp(static_cast<float>(exact), &exponent);
    worst = std::max(worst,
                     std::abs(static_cast<double>(x * r) - exact) / std::ldexp(1.0, exponent - 24));
  }
  const std::string text = reason(6);
  const double bound = std::stod(text.substr(text.find("at most ") + 8));
  EXPECT_LE(worst, bound);
  EXPECT_GT(worst, 0.6 * bound) << "and it is no bound that anything would meet";
}

TEST(Roundings, AWishKeepsWhatTheModelSays) {
  const RewriteResult natural = Rewrite(6, nullptr);
  for (const size_t kept : {0u, 1u}) {
    std::vector<Decision> edited = natural.log.decisions();
    const std::string written = kept == 0 ? "div" : "mul, add";
    edited[kept].choice = written;
    const Result<Wishes> wishes = FindEdits(natural.log, DecisionLog(edited));
    ASSERT_TRUE(wishes.ok()) << wishes.status().ToString();
    const RewriteResult out = Rewrite(6, &*wishes);
    EXPECT_EQ(Has(out.epilogue, ExprOp::kDiv), kept == 0);
    EXPECT_FALSE(Has(out.epilogue, ExprOp::kFma));
    ASSERT_GT(out.log.decisions().size(), kept);
    EXPECT_EQ(out.log.decisions()[kept].choice, written);
    EXPECT_EQ(out.log.decisions()[kept].reason, Reason::kPolicy);
    EXPECT_TRUE(CheckHonoured(*wishes, out.log, {}).ok());
  }
}

// round((x w) * scale / 8), with scales that are constants.
ir::Lowered Quantised() {
  ir::Lowered lowered = Product(8);
  lowered.buffers.resize(4);
  const Dims shape = {2, 2};
  for (ir::LoweredBuffer& b : lowered.buffers) {
    b.shape = shape;
    b.role = schema::Role::kInput;
  }
  ir::LoweredBuffer& scales = lowered.buffers[2];
  const std::vector<float> values = {1, 2, 3, 4};
  scales.role = schema::Role::kConstant;
  scales.constant = ir::Tensor::FromValues<float>(DType::kF32, shape, values);
  lowered.buffers[3].role = schema::Role::kOutput;
  ir::LoweredStep& step = lowered.steps[0];
  step.inputs = {0, 1, 2};
  step.outputs = {3};
  step.problem.inputs.push_back(step.problem.inputs[0]);
  abi::ExprBuilder b;
  const uint16_t sum = b.Binary(ExprOp::kMul, b.Input(0, DType::kF32), b.Input(1, DType::kF32));
  const uint16_t quotient = b.Binary(ExprOp::kDiv, sum, b.Const(8, DType::kF32));
  step.problem.epilogue = b.Finish({b.Unary(ExprOp::kRound, quotient)});
  lowered.inputs = {0, 1};
  lowered.outputs = {3};
  return lowered;
}

TEST(Roundings, ScalesThatKeepTheirQuotientKeepTheirConstants) {
  DecisionLog natural;
  PassContext context;
  context.decisions = &natural;
  ir::Lowered folded = Quantised();
  ASSERT_TRUE(FoldScales(folded, context).ok());
  EXPECT_FALSE(Has(folded.steps[0].problem.epilogue, ExprOp::kDiv));
  EXPECT_EQ(folded.buffers[folded.steps[0].inputs[2]].constant.FloatAt(3), 0.5);
  EXPECT_EQ(folded.buffers.size(), 4u) << "the undivided scales have no reader any more";

  const Result<Wish> wish = ParseSet("node:div.rounding=div", natural);
  ASSERT_TRUE(wish.ok()) << wish.status().ToString();
  Wishes wishes;
  wishes.Add(*wish);
  DecisionLog log;
  context.decisions = &log;
  context.wishes = &wishes;
  ir::Lowered kept = Quantised();
  ASSERT_TRUE(FoldScales(kept, context).ok());
  EXPECT_TRUE(Has(kept.steps[0].problem.epilogue, ExprOp::kDiv));
  EXPECT_EQ(kept.buffers[kept.steps[0].inputs[2]].constant.FloatAt(3), 4);
  EXPECT_EQ(kept.buffers.size(), 4u);
}

TEST(Roundings, OneIsNamedByItsNodeAndWhatItGoesBackTo) {
  const RewriteResult natural = Rewrite(6, nullptr);
  const Result<Wish> wish = ParseSet("node:div.rounding=div", natural.log);
  ASSERT_TRUE(wish.ok()) << wish.status().ToString();
  EXPECT_EQ(wish->occurrence, 0);
  const Result<Wish> fma = ParseSet("node:div.rounding=mul, add", natural.log);
  ASSERT_TRUE(fma.ok()) << fma.status().ToString();
  EXPECT_EQ(fma->occurrence, 1);
  EXPECT_EQ(ParseSet("node:div.rounding=exact", natural.log).status().code(),
            Code::kInvalidArgument);
}

}  // namespace
}  // namespace aicf
