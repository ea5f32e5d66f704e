// Rows that a cache takes in are one step, also where they are parts of one product; the states
// that it changes stay where they are.
#include "compiler/passes/lower/testing.h"
#include "kernels/abi/append.h"

namespace aicf {
namespace {

using testing::Array;

// One request, two rows, one query head and one key head of 4 elements, of which two pairs turn.
constexpr const char* kTurns =
    "graph \"g\" {\ninput %q: f32[1x2x1x4]\ninput %k: f32[1x2x1x4]\ninput %v: f32[1x2x1x4]\n"
    "input %p: i32[1x2x2]\ninput %a: f32[2x3x1x4]\ninput %b: f32[2x3x1x4]\n"
    "input %c: f32[1x2x2]\ninput %s: f32[1x2x2]\n"
    "(%x: f32[2x3x1x4], %y: f32[2x3x1x4], %t: f32[1x2x1x4]) = "
    "aicf.RotaryAppend(%k, %v, %p, %a, %b, %q, %c, %s) \"n\"\noutput %x\noutput %y\noutput %t\n}";
constexpr const char* kMoves =
    "graph \"g\" {\ninput %k: f32[1x2x1x4]\ninput %v: f32[1x2x1x4]\n"
    "input %p: i32[1x2x2]\ninput %a: f32[2x3x1x4]\ninput %b: f32[2x3x1x4]\n"
    "(%x: f32[2x3x1x4], %y: f32[2x3x1x4], _) = "
    "aicf.RotaryAppend(%k, %v, %p, %a, %b) \"n\"\noutput %x\noutput %y\n}";

Array Filled(const Dims& shape, const std::vector<double>& values) {
  Array a(shape);
  for (size_t i = 0; i < values.size(); ++i) a.data[i] = values[i];
  return a;
}

// The first row goes to page 1, row 2; the second one nowhere. Quarter and half turns.
std::map<std::string, ir::Tensor> AppendInputs() {
  const auto f32 = [](const Array& a) { return testing::ToTensor(a, DType::kF32); };
  return {{"q", f32(Filled({1, 2, 1, 4}, {1, 2, 3, 4, 5, 6, 7, 8}))},
          {"k", f32(Filled({1, 2, 1, 4}, {10, 20, 30, 40, 50, 60, 70, 80}))},
          {"v", f32(Filled({1, 2, 1, 4}, {-1, -2, -3, -4, -5, -6, -7, -8}))},
          {"p", testing::ToTensor(Filled({1, 2, 2}, {1, 2, 2, 0}), DType::kI32)},
          {"a", f32(Filled({2, 3, 1, 4}, {}))},
          {"b", f32(Filled({2, 3, 1, 4}, {}))},
          {"c", f32(Filled({1, 2, 2}, {0, -1, 0, -1}))},
          {"s", f32(Filled({1, 2, 2}, {1, 0, 1, 0}))}};
}

void ExpectRow(const Array& cache, const std::vector<double>& row) {
  for (int64_t i = 0; i < 24; ++i) {
    const int64_t in_row = i - 5 * 4;
    EXPECT_EQ(cache.data[static_cast<size_t>(i)],
              in_row >= 0 ? row[static_cast<size_t>(in_row)] : 0)
        << i;
  }
}

TEST(RotaryAppendOp, IsOneStepThatTurnsAndAppends) {
  const auto run = testing::RunGraph(kTurns, AppendInputs());
  ASSERT_TRUE(run.ok()) << run.status().ToString();
  testing::ExpectRoundTrip(run->lowered);
  ASSERT_EQ(run->lowered.steps.size(), 1u);
  const abi::Problem& p = run->lowered.steps[0].problem;
  EXPECT_EQ(p.family, abi::Family::kAppend);
  EXPECT_EQ(p.core_inputs, 8);
  EXPECT_EQ(p.as<abi::AppendAttrs>().pairs, 2);
  // Elements 0 and 2 make a quarter turn, 1 and 3 a half one.
  ExpectRow(run->outputs[0], {-30, -20, 10, -40});
  ExpectRow(run->outputs[1], {-1, -2, -3, -4});
  EXPECT_EQ(run->outputs[2].data, (std::vector<double>{-3, -2, 1, -4, -7, -6, 5, -8}));
}

TEST(RotaryAppendOp, WithoutQueriesNothingTurns) {
  std::map<std::string, ir::Tensor> inputs = AppendInputs();
  for (const char* name : {"q", "c", "s"}) inputs.erase(name);
  const auto run = testing::RunGraph(kMoves, inputs);
  ASSERT_TRUE(run.ok()) << run.status().ToString();
  ASSERT_EQ(run->lowered.steps.size(), 1u);
  EXPECT_EQ(run->lowered.steps[0].problem.as<abi::AppendAttrs>().pairs, 0);
  ExpectRow(run->outputs[0], {10, 20, 30, 40});
  ExpectRow(run->outputs[1], {-1, -2, -3, -4});
}

}  // namespace
}  // namespace aicf
