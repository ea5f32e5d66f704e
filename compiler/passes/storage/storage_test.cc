#include <gtest/gtest.h>

#include <limits>

#include "compiler/ir/text.h"
#include "compiler/options/compile_options.h"
#include "compiler/passes/lowered/drop_casts.h"
#include "compiler/passes/storage/beyond_range.h"
#include "compiler/passes/storage/narrow_tensor.h"
#include "compiler/passes/storage/sensitive.h"
#include "compiler/passes/storage/step_limits.h"
#include "compiler/passes/storage/value_ranges.h"

namespace aicf::storage {
namespace {

ir::Tensor F32(const std::vector<float>& values) {
  return ir::Tensor::FromValues<float>(DType::kF32, {static_cast<int64_t>(values.size())}, values);
}

TEST(NarrowTensor, RoundsToNearestEven) {
  const ir::Tensor f16 = Narrowed(F32({1, 1 + 0x1p-11f, 1 + 0x3p-11f, -70000}), DType::kF16);
  EXPECT_EQ(f16.dtype(), DType::kF16);
  EXPECT_EQ(f16.FloatAt(0), 1);
  EXPECT_EQ(f16.FloatAt(1), 1) << "a tie goes to the even one";
  EXPECT_EQ(f16.FloatAt(2), 1 + 0x1p-9);
  EXPECT_EQ(f16.FloatAt(3), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(Narrowed(F32({1 + 0x1p-8f}), DType::kBF16).FloatAt(0), 1);
}

TEST(NarrowTensor, SaysWhatDoesNotSurvive) {
  EXPECT_EQ(LosesDigits(F32({0.1f, -3.7f, 1000, 0}), DType::kF16), "");
  EXPECT_EQ(LosesDigits(F32({}), DType::kF16), "");
  EXPECT_NE(LosesDigits(F32({1, 70000}), DType::kF16).find("reaches 7e+04"), std::string::npos);
  EXPECT_EQ(LosesDigits(F32({1, 70000}), DType::kBF16), "");
  // Denormal in f16.
  EXPECT_NE(LosesDigits(F32({1e-7f, 3e-7f, 2.2e-7f}), DType::kF16).find("relative error"),
            std::string::npos);
  EXPECT_EQ(LosesDigits(F32({1e-7f, 3e-7f, 2.2e-7f}), DType::kBF16), "");
  // Infinities are what they are: masks have them.
  EXPECT_EQ(LosesDigits(F32({-std::numeric_limits<float>::infinity(), 1}), DType::kF16), "");
}

abi::Problem Map(const std::string& expression) {
  abi::Problem p;
  p.attrs = abi::ElementwiseAttrs{};
  p.inputs = {abi::DenseView(DType::kF32, {2}), abi::DenseView(DType::kF32, {2})};
  p.outputs = {abi::DenseView(DType::kF32, {2})};
  p.core_inputs = 2;
  const Result<abi::Expr> expr = abi::ParseExpr(expression);
  EXPECT_TRUE(expr.ok()) << expr.status().ToString();
  if (expr.ok()) p.epilogue = *expr;
  return p;
}

TEST(Sensitive, ResultsOfAnySize) {
  EXPECT_NE(SensitiveResult(Map("(%0 = in 0 : f32; %1 = exp %0 : f32) -> %1"), 0), "");
  EXPECT_NE(SensitiveResult(Map("(%0 = in 0 : f32; %1 = mul %0 %0 : f32) -> %1"), 0), "");
  EXPECT_NE(SensitiveResult(
                Map("(%0 = in 0 : f32; %1 = in 1 : f32; %2 = div %0 %1 : f32; %3 = neg %2 : f32)"
                    " -> %3"),
                0),
            "");
  EXPECT_EQ(
      SensitiveResult(Map("(%0 = in 0 : f32; %1 = const 6 : f32; %2 = div %0 %1 : f32) -> %2"), 0),
      "");
  // The exponential is inside: what is stored lies between 0 and 1.
  EXPECT_EQ(SensitiveResult(Map("(%0 = in 0 : f32; %1 = sigmoid %0 : f32) -> %1"), 0), "");
  EXPECT_EQ(
      SensitiveResult(Map("(%0 = in 0 : f32; %1 = in 1 : f32; %2 = mul %0 %1 : f32) -> %2"), 0),
      "");
}

TEST(Sensitive, PositionsAndAngles) {
  EXPECT_NE(SensitiveResult(Map("(%0 = in 0 : i32; %1 = cast %0 : f32) -> %1"), 0), "");
  EXPECT_NE(
      SensitiveResult(Map("(%0 = in 0 : i64; %1 = cast %0 : f32; %2 = neg %1 : f32) -> %2"), 0),
      "");
  EXPECT_EQ(SensitiveResult(Map("(%0 = in 0 : u8; %1 = cast %0 : f32) -> %1"), 0), "");
  EXPECT_EQ(SensitiveResult(Map("(%0 = in 0 : bool; %1 = cast %0 : f32) -> %1"), 0), "");
  EXPECT_NE(SensitiveOperand(Map("(%0 = in 0 : f32; %1 = cos %0 : f32) -> %1"), 0), "");
  EXPECT_EQ(SensitiveOperand(Map("(%0 = in 0 : f32; %1 = tanh %0 : f32) -> %1"), 0), "");
}

TEST(Sensitive, OperandsOfResultsThatJump) {
  EXPECT_NE(SensitiveOperand(Map("(%0 = in 0 : f32; %1 = floor %0 : f32) -> %1"), 0), "");
  EXPECT_EQ(SensitiveOperand(Map("(%0 = in 0 : f32; %1 = tanh %0 : f32) -> %1"), 0), "");
  // A leaky ReLU compares and selects, and has no jump.
  EXPECT_EQ(SensitiveOperand(Map("(%0 = in 0 : f32; %1 = const 0 : f32; %2 = lt %0 %1 : bool; "
                                 "%3 = const 0.1 : f32; %4 = mul %0 %3 : f32; "
                                 "%5 = select %2 %4 %0 : f32) -> %5"),
                             0),
            "");
}

TEST(Sensitive, AnglesOfAppends) {
  abi::Problem p;
  p.family = abi::Family::kAppend;
  p.attrs = abi::AppendAttrs{4};
  for (int input = 0; input < 8; ++input) {
    EXPECT_EQ(SensitiveOperand(p, input).empty(), input < 6) << input;
  }
}

// A cache and what it becomes have one dtype; what is appended is converted.
TEST(TiedValues, OfAppendsAreTheCaches) {
  abi::Problem p;
  p.family = abi::Family::kAppend;
  EXPECT_EQ(TiedValues(p).inputs, (std::vector<int>{3, 4}));
  EXPECT_EQ(TiedValues(p).outputs, (std::vector<int>{0, 1}));
}

// "x" is widened for steps that another pass has let read "x" itself.
TEST(DropCasts, WideningThatNobodyReadsAnyMoreGoesToo) {
  Result<ir::Lowered> lowered = ir::ParseLowered(R"(lowered "g"
%0 = input "x" f16 2x3
%1 = temp "wide" f32 2x3
%2 = temp "turned" f16 3x2
%3 = output "y" f32 3x2
inputs %0
outputs %3
step ["back"] (%0) -> (%1) : elementwise math=fp32 core=1 in(f16 2x3 [3, 1]+0)
  out(f32 2x3 [3, 1]+0) pro id epi (%0 = in 0 : f32) -> %0
step ["narrow"] (%1) -> (%2) : elementwise math=fp32 core=1 in(f32 2x3 [3, 1]+0)
  out(f16 2x3 [1, 2]+0) pro id epi (%0 = in 0 : f32) -> %0
step ["neg"] (%2) -> (%3) : elementwise math=fp32 core=1 in(f16 3x2 [2, 1]+0)
  out(f32 3x2 [2, 1]+0) pro id epi (%0 = in 0 : f32; %1 = neg %0 : f32) -> %1
)");
  ASSERT_TRUE(lowered.ok()) << lowered.status().ToString();
  PassContext context;
  DecisionLog log;
  context.decisions = &log;
  ASSERT_TRUE(DropCasts(*lowered, {}, context).ok());
  ASSERT_TRUE(Verify(*lowered).ok());
  // The copy in another order of the axes stays: its reader may want that order.
  ASSERT_EQ(lowered->steps.size(), 2u);
  EXPECT_EQ(lowered->steps[0].sources[0], "narrow");
  EXPECT_EQ(lowered->steps[0].problem.inputs[0].dtype, DType::kF16);
  EXPECT_EQ(lowered->buffers.size(), 3u);
  ASSERT_EQ(log.decisions().size(), 1u);
  EXPECT_EQ(log.decisions()[0].choice, "removed");
}

TEST(LargestValues, AreThoseOfTheSamplesThatFit) {
  const Result<ir::Lowered> lowered = ir::ParseLowered(R"(lowered "g"
%0 = input "a" f32 3
%1 = temp "t" f32 3
%2 = output "y" f32 3
inputs %0
outputs %2
step ["scale"] (%0) -> (%1) : elementwise math=fp32 core=1 in(f32 3 [1]+0) out(f32 3 [1]+0) pro id
  epi (%0 = in 0 : f32; %1 = const 10 : f32; %2 = mul %0 %1 : f32) -> %2
step ["neg"] (%1) -> (%2) : elementwise math=fp32 core=1 in(f32 3 [1]+0) out(f32 3 [1]+0) pro id
  epi (%0 = in 0 : f32; %1 = neg %0 : f32) -> %1
)");
  ASSERT_TRUE(lowered.ok()) << lowered.status().ToString();
  const NamedTensors small = {{"a", F32({1, -2, 0})}}, large = {{"a", F32({-7000, 1, 1})}};
  const NamedTensors other = {{"a", F32({1e9f})}};
  const auto none = LargestValues(*lowered, {other});
  ASSERT_TRUE(none.ok());
  EXPECT_TRUE(none->empty());
  const auto largest = LargestValues(*lowered, {small, other, large});
  ASSERT_TRUE(largest.ok()) << largest.status().ToString();
  EXPECT_EQ(*largest, (std::vector<double>{7000, 70000, 70000}));
}

// Scores of a product, masked by a constant in its epilogue or by a value that has one, are beyond
// f16; what a softmax makes of them is not, and neither is what is only limited by such a constant.
TEST(BeyondRange, ConstantsAreFollowedToWhereverTheyMayBe) {
  const Result<ir::Lowered> lowered = ir::ParseLowered(R"(lowered "g"
%0 = input "a" f32 2x2
%1 = input "m" bool 2x2
%2 = temp "mask" f32 2x2
%3 = temp "scores" f32 2x2
%4 = temp "selected" f32 2x2
%5 = temp "turned" f32 2x2
%6 = temp "limited" f32 2x2
%7 = constant "table" f32 2 [-1e30, 0]
%8 = temp "tabled" f32 2x2
%9 = output "y" f32 2x2
%10 = input "w" f32 2x4
%11 = temp "halves" f32 2x2
inputs %0, %1, %10
outputs %9
step ["mask"] (%1) -> (%2) : elementwise math=fp32 core=1 in(bool 2x2 [2, 1]+0)
  out(f32 2x2 [2, 1]+0) pro id
  epi (%0 = in 0 : bool; %1 = cast %0 : f32; %2 = const -1e9 : f32; %3 = mul %1 %2 : f32) -> %3
step ["scores"] (%0, %0, %2) -> (%3) : gemm math=fp32 core=2 in(f32 2x2 [2, 1]+0,
  f32 2x2 [2, 1]+0, f32 2x2 [2, 1]+0) out(f32 2x2 [2, 1]+0) pro id
  epi (%0 = in 0 : f32; %1 = in 1 : f32; %2 = add %0 %1 : f32) -> %2
step ["selected"] (%0, %0, %1) -> (%4) : gemm math=fp32 core=2 in(f32 2x2 [2, 1]+0,
  f32 2x2 [2, 1]+0, bool 2x2 [2, 1]+0) out(f32 2x2 [2, 1]+0) pro id
  epi (%0 = in 0 : f32; %1 = in 1 : bool; %2 = const -1e9 : f32; %3 = select %1 %0 %2 : f32) -> %3
step ["turned"] (%4) -> (%5) : copy math=fp32 starts={[0, 0]} has_fill=0 fill=0 core=1
  in(f32 2x2 [1, 2]+0) out(f32 2x2 [2, 1]+0)
  pro id epi id
step ["limited"] (%0) -> (%6) : elementwise math=fp32 core=1 in(f32 2x2 [2, 1]+0)
  out(f32 2x2 [2, 1]+0) pro id
  epi (%0 = in 0 : f32; %1 = const -3e38 : f32; %2 = max %0 %1 : f32) -> %2
step ["tabled"] (%0, %7) -> (%8) : elementwise math=fp32 core=2 in(f32 2x2 [2, 1]+0,
  f32 2x2 [0, 1]+0) out(f32 2x2 [2, 1]+0) pro id
  epi (%0 = in 0 : f32; %1 = in 1 : f32; %2 = add %0 %1 : f32) -> %2
step ["halves"] (%0, %10, %2) -> (%11) : gemm math=fp32 halves=2 core=2 in(f32 2x2 [2, 1]+0,
  f32 2x4 [4, 1]+0, f32 2x2 [2, 1]+0) out(f32 2x2 [2, 1]+0) pro id
  epi (%0 = in 0 : f32; %1 = in 1 : f32; %2 = in 2 : f32; %3 = mul %0 %1 : f32; %4 = add %3 %2 : f32) -> %4
step ["y"] (%3) -> (%9) : normalize math=fp32 kind=0 axes=[1] epsilon=0 core=1
  in(f32 2x2 [2, 1]+0) out(f32 2x2 [2, 1]+0) pro id epi id
)");
  ASSERT_TRUE(lowered.ok()) << lowered.status().ToString();
  const std::vector<bool> in_f16 = {false, false, true, true,  true,  true,
                                    false, true,  true, false, false, true};
  EXPECT_EQ(BeyondRange(*lowered, DType::kF16), in_f16);
  EXPECT_EQ(BeyondRange(*lowered, DType::kBF16), std::vector<bool>(12, false));
}

TEST(PrecisionNames, ReadWhatTheyWrite) {
  for (DType dtype : {DType::kF32, DType::kF16, DType::kBF16, DType::kI8, DType::kF8E4M3FN}) {
    const Result<DType> read = ParsePrecision(PrecisionName(dtype));
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(*read, dtype);
  }
  EXPECT_EQ(ParsePrecision("half").status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace aicf::storage
