#include "kernels/abi/excite.h"

#include <gtest/gtest.h>

#include "kernels/abi/validate_faults.h"
#include "kernels/abi/variant.h"

namespace aicf::abi {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

// Two images of 6 channels and 4x5 positions, 3 hidden units; a bias for both products.
Problem SomeExcitation() {
  const View x = {DType::kF16, {2, 6, 4, 5}, {120, 1, 30, 6}, 0};
  Problem p = ProblemOf(Family::kExcite, ExciteAttrs{1}, 4,
                        {DenseView(DType::kF16, {3, 6}),
                         DenseView(DType::kF16, {6, 3}),
                         {DType::kF32, {2, 3}, {0, 1}, 0},
                         {DType::kF32, {2, 6}, {0, 1}, 0},
                         x},
                        {x});
  const std::string sum = "(%0 = in 0 : f32; %1 = in 1 : f32; %2 = add %0 %1 : f32; ";
  p.prologue = *ParseExpr(sum + "%3 = const 0 : f32; %4 = max %2 %3 : f32) -> %4");
  p.score = *ParseExpr(sum + "%3 = sigmoid %2 : f32) -> %3");
  p.epilogue = *ParseExpr("(%0 = in 0 : f32; %1 = in 1 : f32; %2 = mul %0 %1 : f32) -> %2");
  return p;
}

TEST(Excite, TextParsesBackWithItsExpressions) {
  Problem p = SomeExcitation();
  ASSERT_EQ(ValidateProblem(p).message(), "");
  const std::string text = ToString(p);
  const Result<Problem> back = ParseProblem(text);
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_EQ(back->prologue, p.prologue);
  EXPECT_EQ(back->score, p.score);
  EXPECT_EQ(ToString(*back), text);
  const std::string symbol = InstanceSymbol("cuda.excite.cluster", p, Variant{});
  p.score = p.prologue;
  EXPECT_NE(InstanceSymbol("cuda.excite.cluster", p, Variant{}), symbol);
}

TEST(Excite, OperandsArePlacedByTheAttributes) {
  const ExciteShape s = ExciteShapeOf(SomeExcitation());
  EXPECT_EQ(s.images, 2);
  EXPECT_EQ(s.channels, 6);
  EXPECT_EQ(s.hidden, 3);
  EXPECT_EQ(s.positions, 20);
  EXPECT_EQ(s.gate_first, 3);
  EXPECT_EQ(s.gate_end, 4);
  EXPECT_EQ(s.x, 4);
}

TEST(Excite, BothProductsAndTheirExpressionsCount) {
  Problem p = SomeExcitation();
  const double whole = FlopCount(p);
  p.prologue = {};
  p.score = {};
  // An addition and a product per element; two products of 3 x 6 and a quotient for each image.
  EXPECT_EQ(FlopCount(p), 240 * 2 + 2 * (4 * 18 + 6));
  EXPECT_GT(whole, FlopCount(p));
}

TEST(Excite, ValidationNamesTheBrokenRule) {
  const auto no_x = [](Problem& p) { p.inputs.pop_back(); };
  const auto hidden = [](int64_t count) {
    return Edit<ExciteAttrs>([=](ExciteAttrs& a) { a.hidden_operands = count; });
  };
  ExpectRefused(
      SomeExcitation(),
      {{"expected at least 2", [](Problem& p) { p.core_inputs = 1; }},
       {"-1 operands of hidden units among 4", hidden(-1)},
       {"3 operands of hidden units among 4", hidden(3)},
       {"x is missing", no_x},
       {"no channels",
        [](Problem& p) { p.inputs[4] = p.outputs[0] = DenseView(DType::kF16, {6}); }},
       {"w1 has rank 3", Input(0, DenseView(DType::kF16, {3, 6, 1}))},
       {"w1 has shape", Input(0, DenseView(DType::kF16, {3, 5}))},
       {"w2 has shape", Input(1, DenseView(DType::kF16, {6, 4}))},
       {"w2 has shape", Input(1, DenseView(DType::kF16, {5, 3}))},
       {"operand 0 is f64", Input(0, DenseView(DType::kF64, {3, 6}))},
       {"operand 1 is i8", Input(1, DenseView(DType::kI8, {6, 3}))},
       {"operand 4 is i32", Input(4, DenseView(DType::kI32, {2, 6, 4, 5}))},
       {"an operand of the hidden unit", Input(2, F32({2, 6}))},
       {"an operand of the gate", Input(3, F32({2, 3}))},
       {"an epilogue operand", Input(4, DenseView(DType::kF16, {2, 6, 5, 4}))},
       {"operands of a hidden unit without", [](Problem& p) { p.prologue = {}; }},
       {"operands of a gate without", [](Problem& p) { p.score = {}; }},
       {"a gate has one result", [](Problem& p) { p.score.results.push_back(0); }},
       {"the hidden unit is bool, expected f32",
        [](Problem& p) {
          p.prologue = *ParseExpr("(%0 = in 0 : f32; %1 = isnan %0 : bool) -> %1");
        }},
       {"reads an input that does not exist", [](Problem& p) { p.score.nodes[1].imm = 2; }}});
}

}  // namespace
}  // namespace aicf::abi
