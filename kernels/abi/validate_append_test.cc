// Every rule of the append family, broken once.
#include "kernels/abi/append.h"
#include "kernels/abi/validate_faults.h"

namespace aicf::abi {
namespace {

using testing::ExpectRefused;
using testing::F32;
using testing::Input;
using testing::Output;

View OfI32(const Dims& shape) { return DenseView(DType::kI32, shape); }
View OfF16(const Dims& shape) { return DenseView(DType::kF16, shape); }

// Two requests of 3 rows, 4 query heads and 2 heads of 10 elements, 4 pairs of which turn; a cache
// of 5 pages of 8 rows.
Problem SomeAppend() {
  return testing::ProblemOf(
      Family::kAppend, AppendAttrs{4}, 8,
      {F32({2, 3, 2, 10}), OfF16({2, 3, 2, 10}), OfI32({2, 3, 2}), OfF16({5, 8, 2, 10}),
       F32({5, 8, 2, 10}), F32({2, 3, 4, 10}), F32({2, 3, 4}), OfF16({2, 3, 4})},
      {OfF16({5, 8, 2, 10}), F32({5, 8, 2, 10}), OfF16({2, 3, 4, 10})});
}

// The same without queries.
Problem SomeRows() {
  Problem p = SomeAppend();
  p.attrs = AppendAttrs{};
  p.inputs.resize(5);
  p.outputs.resize(2);
  p.core_inputs = 5;
  return p;
}

TEST(ValidateAppend, TheErrorNamesTheBrokenRule) {
  const auto pairs = [](int64_t count) {
    return testing::Edit<AppendAttrs>([count](AppendAttrs& a) { a.pairs = count; });
  };
  ExpectRefused(SomeAppend(),
                {{"expected 8", [](Problem& p) { p.inputs.pop_back(), --p.core_inputs; }},
                 {"7 core operands of 8", [](Problem& p) { p.core_inputs = 7; }},
                 {"8 core operands of 9", [](Problem& p) { p.inputs.push_back(F32({1})); }},
                 {"2 outputs, expected 3", [](Problem& p) { p.outputs.pop_back(); }},
                 {"expected 5", pairs(0)},
                 {"6 pairs in heads of 10", pairs(6)},
                 {"ranks 3 and 4", Input(kAppendK, F32({2, 3, 20}))},
                 {"ranks 4 and 3", Input(kAppendKeys, OfF16({5, 8, 20}))},
                 {"new keys are f64", Input(kAppendK, DenseView(DType::kF64, {2, 3, 2, 10}))},
                 {"new values are i32", Input(kAppendV, OfI32({2, 3, 2, 10}))},
                 {"new values has shape", Input(kAppendV, F32({2, 3, 1, 10}))},
                 {"places are f32", Input(kAppendPlaces, F32({2, 3, 2}))},
                 {"places has shape", Input(kAppendPlaces, OfI32({2, 3, 1}))},
                 {"keys are f64", Input(kAppendKeys, DenseView(DType::kF64, {5, 8, 2, 10}))},
                 {"keys has shape", Input(kAppendKeys, OfF16({5, 8, 2, 9}))},
                 {"values are i32", Input(kAppendValues, OfI32({5, 8, 2, 10}))},
                 {"values has shape", Input(kAppendValues, F32({5, 7, 2, 10}))},
                 {"keys are f32 after and f16 before", Output(kNextKeys, F32({5, 8, 2, 10}))},
                 {"keys has shape", Output(kNextKeys, OfF16({5, 8, 2, 11}))},
                 {"values are f16 after and f32 before", Output(kNextValues, OfF16({5, 8, 2, 10}))},
                 {"values has shape", Output(kNextValues, F32({4, 8, 2, 10}))},
                 {"queries have rank 3", Input(kAppendQ, F32({2, 3, 40}))},
                 {"queries are i32", Input(kAppendQ, OfI32({2, 3, 4, 10}))},
                 {"queries has shape", Input(kAppendQ, F32({2, 4, 4, 10}))},
                 {"cosines are i32", Input(kAppendCosine, OfI32({2, 3, 4}))},
                 {"cosines has shape", Input(kAppendCosine, F32({2, 3, 5}))},
                 {"sines are f64", Input(kAppendSine, DenseView(DType::kF64, {2, 3, 4}))},
                 {"sines has shape", Input(kAppendSine, F32({2, 1, 4}))},
                 {"turned queries are i32", Output(kTurnedQueries, OfI32({2, 3, 4, 10}))},
                 {"turned queries has shape", Output(kTurnedQueries, F32({2, 3, 3, 10}))}});
  ExpectRefused(SomeRows(),
                {{"-1 pairs", pairs(-1)},
                 {"3 outputs, expected 2",
                  [](Problem& p) {
                    p.outputs.push_back(F32({2, 3, 4, 10}));
                  }},
                 {"expected 5", [](Problem& p) { p.inputs.pop_back(), --p.core_inputs; }}});
}

TEST(AppendShape, IsReadFromTheOperands) {
  const AppendShape s = AppendShapeOf(SomeAppend());
  EXPECT_EQ(s.rows, 6);
  EXPECT_EQ(s.heads, 2);
  EXPECT_EQ(s.query_heads, 4);
  EXPECT_EQ(s.head, 10);
  EXPECT_EQ(s.slots, 40);
  EXPECT_EQ(s.pairs, 4);
  EXPECT_EQ(AppendShapeOf(SomeRows()).query_heads, 0);
}

// Of the cache only the new rows count, however large it is.
TEST(AppendShape, BytesAreThoseOfTheRows) {
  Problem p = SomeAppend();
  const double bytes =
      6 * 2 * 10 * (4 + 2 + 2 + 4) + 6 * 2 * 4 + 6 * 4 * 10 * (4 + 2) + 6 * 4 * (4 + 2);
  EXPECT_EQ(ByteCount(p), bytes);
  p.inputs[kAppendKeys] = p.outputs[kNextKeys] = OfF16({500, 8, 2, 10});
  p.inputs[kAppendValues] = p.outputs[kNextValues] = F32({500, 8, 2, 10});
  EXPECT_EQ(ByteCount(p), bytes);
  EXPECT_EQ(FlopCount(p), 6 * 6 * 6 * 4);
}

TEST(AppendShape, EachCacheHasAnOutputInItsPlace) {
  const Problem p = SomeAppend();
  for (int input = 0; input < 8; ++input) {
    EXPECT_EQ(OutputInPlaceOf(p, input), input == 4 ? 1 : 0) << input;
  }
  Problem other = p;
  other.family = Family::kScatter;
  EXPECT_EQ(OutputInPlaceOf(other, kAppendValues), 0);
}

}  // namespace
}  // namespace aicf::abi
