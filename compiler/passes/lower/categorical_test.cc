// A draw is one step, whose operands are the node's.
#include "compiler/passes/lower/testing.h"
#include "kernels/abi/draw.h"

namespace aicf {
namespace {

using testing::Array;

constexpr int64_t kRows = 40;

std::string DrawGraph(bool with_valid) {
  return StrCat("graph \"g\" {\ninput %x: f16[40x8]\ninput %t: f32[40]\ninput %k: i32[40]\n",
                "input %p: f32[40]\ninput %m: f32[40]\ninput %s: i64[40]\ninput %c: i32[40]\n",
                with_valid ? "(%y: i32[40], %v: bool[40], _)" : "(%y: i32[40], _, _)",
                " = aicf.Categorical(%x, %t, %k, %p, %m, %s, %c) \"n\"\noutput %y\n",
                with_valid ? "output %v\n" : "", "}");
}

ir::Tensor PerRow(DType dtype, const std::function<double(int64_t)>& f) {
  Array a({kRows});
  for (int64_t b = 0; b < kRows; ++b) a[{b}] = f(b);
  return testing::ToTensor(a, dtype);
}

// Eight equal logits, of which top-k leaves the first five; every fourth row is greedy.
std::map<std::string, ir::Tensor> DrawInputs() {
  Array x({kRows, 8});
  for (int64_t b = 0; b < kRows; ++b) {
    for (int64_t i = 0; i < 8; ++i) x[{b, i}] = b % 4 == 0 && i == 6 ? 2 : 1;
  }
  return {{"x", testing::ToTensor(x, DType::kF16)},
          {"t", PerRow(DType::kF32, [](int64_t b) { return b % 4 == 0 ? 0 : 0.5; })},
          {"k", PerRow(DType::kI32, [](int64_t) { return 5; })},
          {"p", PerRow(DType::kF32, [](int64_t) { return 1; })},
          {"m", PerRow(DType::kF32, [](int64_t) { return 0; })},
          {"s", PerRow(DType::kI64, [](int64_t b) { return static_cast<double>(1000 + b); })},
          {"c", PerRow(DType::kI32, [](int64_t b) { return static_cast<double>(b * b); })}};
}

double ExpectedId(int64_t b) {
  if (b % 4 == 0) return 6;
  return std::floor(5.0 * static_cast<double>(abi::UniformDraw(static_cast<uint64_t>(1000 + b),
                                                               static_cast<uint64_t>(b * b))));
}

TEST(CategoricalOp, IsOneStepWithTheNodesOperands) {
  for (const bool with_valid : {false, true}) {
    const auto run = testing::RunGraph(DrawGraph(with_valid), DrawInputs());
    ASSERT_TRUE(run.ok()) << run.status().ToString();
    testing::ExpectRoundTrip(run->lowered);
    ASSERT_EQ(run->lowered.steps.size(), 1u);
    EXPECT_EQ(run->lowered.steps[0].problem.family, abi::Family::kCategorical);
    EXPECT_EQ(run->lowered.steps[0].problem.core_inputs, 7);
    ASSERT_EQ(run->outputs.size(), with_valid ? 2u : 1u);
    for (int64_t b = 0; b < kRows; ++b) {
      EXPECT_EQ((run->outputs[0][{b}]), ExpectedId(b)) << b;
      if (with_valid) {
        EXPECT_EQ((run->outputs[1][{b}]), 1) << b;
      }
    }
  }
}

}  // namespace
}  // namespace aicf
