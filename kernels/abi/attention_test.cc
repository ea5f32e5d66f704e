#include "kernels/abi/attention.h"

#include <gtest/gtest.h>

#include <limits>
#include <span>
#include <vector>

#include "kernels/abi/validate_faults.h"
#include "kernels/abi/variant.h"

namespace aicf::abi {
namespace {

// Two requests, 4 query heads over 2 key heads, 3 rows, 6 keys in 2 pages of 3, heads of 5 and 7.
Problem SomeAttention() {
  Problem p;
  p.family = Family::kAttention;
  AttentionAttrs a;
  a.scale = 0.25;
  a.lengths = a.pages = true;
  a.rows = RowOrigin::kOperand;
  a.window_right = 0;
  p.attrs = a;
  p.inputs = {DenseView(DType::kF16, {2, 4, 3, 5}),
              DenseView(DType::kF16, {9, 2, 3, 5}),
              DenseView(DType::kF16, {9, 2, 3, 7}),
              DenseView(DType::kI64, {2}),
              DenseView(DType::kI32, {2, 2}),
              DenseView(DType::kI32, {2}),
              {DType::kBool, {2, 4, 3, 6}, {6, 0, 0, 1}, 0}};
  p.core_inputs = 6;
  p.outputs = {DenseView(DType::kF16, {2, 4, 3, 7}), DenseView(DType::kF32, {2, 4, 3})};
  ExprBuilder b;
  const uint16_t none = b.Const(-std::numeric_limits<double>::infinity(), DType::kF32);
  // One after the other: the order in which nodes are made is part of the symbol.
  const uint16_t score = b.Input(0, DType::kF32);
  const uint16_t mask = b.Input(1, DType::kBool);
  p.score = b.Finish({b.Select(mask, score, none)});
  return p;
}

// Two requests, 4 query heads over 2 key heads of 10 elements, 4 pairs of which turn. A row of each
// request goes to its page of a pool of 9 pages of 3 rows; a request has 2 pages.
Problem SomeAppending() {
  Problem p;
  p.family = Family::kAttention;
  AttentionAttrs a;
  a.scale = 0.25;
  a.lengths = a.pages = true;
  a.rows = RowOrigin::kOperand;
  a.append_pairs = 4;
  p.attrs = a;
  const View pool = DenseView(DType::kF16, {9, 2, 3, 10});
  const View row = DenseView(DType::kF16, {2, 1, 2, 10});
  p.inputs = {DenseView(DType::kF16, {2, 4, 1, 10}),
              pool,
              pool,
              DenseView(DType::kI64, {2}),
              DenseView(DType::kI32, {2, 2}),
              DenseView(DType::kI32, {2}),
              row,
              row,
              DenseView(DType::kI32, {2, 1, 2}),
              DenseView(DType::kF32, {2, 1, 4}),
              DenseView(DType::kBF16, {2, 1, 4}),
              {DType::kBool, {2, 4, 1, 6}, {6, 0, 0, 1}, 0}};
  p.core_inputs = 11;
  p.outputs = {DenseView(DType::kF16, {2, 4, 1, 10}), pool, pool};
  p.score = SomeAttention().score;
  return p;
}

/// A change that breaks a rule, and part of the sentence that names the rule.
struct Broken {
  void (*change)(Problem&);
  const char* sentence;
};
void ExpectBroken(const Problem& valid, std::span<const Broken> cases) {
  std::vector<testing::Fault> faults;
  for (const Broken& c : cases) faults.push_back({c.sentence, c.change});
  testing::ExpectRefused(valid, faults);
}

AttentionAttrs& AttrsOf(Problem& p) { return std::get<AttentionAttrs>(p.attrs); }

// The same attention to the same pools, which nothing is appended to.
Problem WithoutAppending(Problem p) {
  AttrsOf(p).append_pairs = 0;
  p.inputs.erase(p.inputs.begin() + 6, p.inputs.begin() + 11);
  p.core_inputs = 6;
  p.outputs.resize(1);
  return p;
}

TEST(Attention, TextParsesBackWithItsScore) {
  Problem p = SomeAttention();
  ASSERT_TRUE(ValidateProblem(p).ok()) << ValidateProblem(p).ToString();
  const std::string text = ToString(p);
  const Result<Problem> back = ParseProblem(text);
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_EQ(back->score, p.score);
  EXPECT_EQ(ToString(*back), text);
  const std::string symbol = InstanceSymbol("cuda.attention.general", p, Variant{});
  p.score = {};
  EXPECT_NE(InstanceSymbol("cuda.attention.general", p, Variant{}), symbol);
}

TEST(Attention, OperandsArePlacedByTheAttributes) {
  Problem p = SomeAttention();
  const AttentionShape s = AttentionShapeOf(p);
  EXPECT_EQ(s.lengths, 3);
  EXPECT_EQ(s.table, 4);
  EXPECT_EQ(s.origins, 5);
  EXPECT_EQ(s.core_inputs, 6);
  EXPECT_EQ(s.keys, 6);
  EXPECT_EQ(s.page, 3);
  EXPECT_EQ(s.pool, 9);
  EXPECT_EQ(s.group(), 2);
}

TEST(Attention, ValidationNamesTheBrokenRule) {
  const Broken kCases[] = {
      {[](Problem& p) { AttrsOf(p).scale = std::numeric_limits<double>::infinity(); }, "scale"},
      {[](Problem& p) { AttrsOf(p).window_left = -2; }, "window -2"},
      {[](Problem& p) { AttrsOf(p).offset = kMaxPosition + 1; }, "offset"},
      {[](Problem& p) { AttrsOf(p).rows = RowOrigin::kCount; }, "row origin"},
      {[](Problem& p) { AttrsOf(p).lengths = false; }, "core operands"},
      {[](Problem& p) { p.outputs.push_back(p.outputs[1]); }, "outputs"},
      {[](Problem& p) {
         p.inputs[2] = DenseView(DType::kF16, {9, 2, 21});
       },
       "rank 4"},
      {[](Problem& p) { p.inputs[4].dtype = DType::kI64; }, "page table is not i32"},
      {[](Problem& p) {
         p.inputs[4] = DenseView(DType::kI32, {3, 2});
       },
       "requests"},
      {[](Problem& p) { p.inputs[1].dtype = DType::kBF16; }, "differ in dtype"},
      {[](Problem& p) { p.inputs[2].dtype = DType::kBF16; }, "differ in dtype"},
      {[](Problem& p) { p.inputs[0].dtype = DType::kI32; }, "q is i32"},
      {[](Problem& p) { p.outputs[0].dtype = DType::kF8E5M2; }, "the output is f8e5m2"},
      {[](Problem& p) { p.outputs[0].dtype = DType::kU8; }, "the output is u8"},
      {[](Problem& p) { AttrsOf(p).offset = -kMaxPosition - 1; }, "offset -"},
      {[](Problem& p) { AttrsOf(p).window_right = kMaxPosition + 1; }, "window 1"},
      {[](Problem& p) {
         p.inputs[0] = {DType::kF16, {2, 4, int64_t{1} << 31, 5}, {0, 0, 0, 0}, 0};
       },
       "above 2147483647"},
      {[](Problem& p) {
         p.inputs[4] = DenseView(DType::kI32, {2, 2, 1});
       },
       "has rank 2"},
      {[](Problem& p) {
         p.inputs[4] = {DType::kI32, {2, int64_t{1} << 30}, {0, 0}, 0};
       },
       "too many keys"},
      {[](Problem& p) {
         p.inputs[4] = {DType::kI32, {2, int64_t{1} << 61}, {0, 0}, 0};
         p.inputs[1] = {DType::kF16, {9, 2, (int64_t{1} << 31) - 1, 5}, {0, 0, 0, 0}, 0};
       },
       "too many keys"},
      {[](Problem& p) {
         p.inputs[1] = DenseView(DType::kF16, {9, 2, 0, 5});
       },
       "a page holds no key"},
      {[](Problem& p) { p.outputs[0].dtype = DType::kF64; }, "for data f16"},
      {[](Problem& p) { p.outputs[1].dtype = DType::kF16; }, "log-sum-exp is f16"},
      {[](Problem& p) {
         p.outputs[1] = DenseView(DType::kF32, {2, 4, 2});
       },
       "log-sum-exp has shape"},
      {[](Problem& p) {
         p.inputs[1] = DenseView(DType::kF16, {9, 3, 3, 5});
       },
       "no multiple"},
      {[](Problem& p) {
         p.inputs[1] = DenseView(DType::kF16, {9, 2, 3, 4});
       },
       "k has shape"},
      {[](Problem& p) {
         p.inputs[2] = DenseView(DType::kF16, {9, 2, 4, 7});
       },
       "v has shape"},
      {[](Problem& p) { p.inputs[3].dtype = DType::kF32; }, "lengths are not"},
      {[](Problem& p) { p.inputs[5] = DenseView(DType::kI32, {1}); }, "origins has shape"},
      {[](Problem& p) {
         p.inputs[6] = DenseView(DType::kBool, {2, 4, 3, 5});
       },
       "a score operand"},
      {[](Problem& p) {
         p.outputs[0] = DenseView(DType::kF16, {2, 4, 3, 5});
       },
       "output has shape"},
      {[](Problem& p) { p.outputs[0].strides[3] = 0; }, "address twice"},
      {[](Problem& p) { p.score = {}; }, "without an expression"},
      {[](Problem& p) { p.score.results.push_back(0); }, "one result"},
      {[](Problem& p) {
         ExprBuilder b;
         p.score = b.Finish({b.Unary(ExprOp::kIsNan, b.Input(0, DType::kF32))});
       },
       "the score is bool"},
      {[](Problem& p) { p.prologue = p.score; }, "no prologue"},
      {[](Problem& p) { p.epilogue = p.score; }, "no epilogue"},
  };
  ExpectBroken(SomeAttention(), kCases);
}

TEST(AppendingAttention, OperandsFollowThoseOfOtherAttention) {
  const AttentionShape s = AttentionShapeOf(SomeAppending());
  EXPECT_EQ(s.lengths, 3);
  EXPECT_EQ(s.table, 4);
  EXPECT_EQ(s.origins, 5);
  EXPECT_EQ(s.new_keys, 6);
  EXPECT_EQ(s.new_values, 7);
  EXPECT_EQ(s.places, 8);
  EXPECT_EQ(s.cosine, 9);
  EXPECT_EQ(s.sine, 10);
  EXPECT_EQ(s.core_inputs, 11);
  Problem fewer = SomeAppending();
  AttrsOf(fewer).lengths = false;
  AttrsOf(fewer).rows = RowOrigin::kLastKeys;
  fewer.inputs.erase(fewer.inputs.begin() + 5);
  fewer.inputs.erase(fewer.inputs.begin() + 3);
  fewer.core_inputs = 9;
  ASSERT_EQ(ValidateProblem(fewer).message(), "");
  EXPECT_EQ(AttentionShapeOf(fewer).table, 3);
  EXPECT_EQ(AttentionShapeOf(fewer).new_keys, 4);
  EXPECT_EQ(AttentionShapeOf(fewer).sine, 8);
}

TEST(AppendingAttention, OtherAttentionHasNoneOfItsOperands) {
  const AttentionShape s = AttentionShapeOf(SomeAttention());
  for (int operand : {s.new_keys, s.new_values, s.places, s.cosine, s.sine}) {
    EXPECT_EQ(operand, -1);
  }
  EXPECT_FALSE(AppendsRows(SomeAttention()));
  EXPECT_TRUE(AppendsRows(SomeAppending()));
}

TEST(AppendingAttention, TextParsesBack) {
  const Problem p = SomeAppending();
  const std::string text = ToString(p);
  EXPECT_NE(text.find(" window_right=-1 append_pairs=4 core=11"), std::string::npos) << text;
  const Result<Problem> back = ParseProblem(text);
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_EQ(back->as<AttentionAttrs>().append_pairs, 4);
  EXPECT_EQ(ToString(*back), text);
}

// Artifacts from before append_pairs hold such texts and symbols: they have to stay as they were.
TEST(AppendingAttention, OtherAttentionHasTheTextAndSymbolThatItHadBefore) {
  const Problem p = SomeAttention();
  EXPECT_EQ(ToString(p).find("append"), std::string::npos) << ToString(p);
  EXPECT_EQ(InstanceSymbol("cuda.attention.general", p, Variant{}),
            "aicf2_cuda_attention_general_18463545c0cd7c7ab364b673fbf365fa");
}

TEST(AppendingAttention, ValidationNamesTheBrokenRule) {
  const Broken kCases[] = {
      {[](Problem& p) { --p.core_inputs; }, "10 core operands, expected 11"},
      {[](Problem& p) { AttrsOf(p).append_pairs = 0; }, "11 core operands, expected 6"},
      {[](Problem& p) { p.outputs.pop_back(); }, "2 outputs of a step that appends, expected 3"},
      {[](Problem& p) { p.outputs.push_back(p.outputs[1]); },
       "4 outputs of a step that appends, expected 3"},
      {[](Problem& p) {
         AttrsOf(p).pages = false;
         p.inputs.erase(p.inputs.begin() + 4);
         p.core_inputs = 10;
         for (size_t k : {1, 2}) p.inputs[k] = DenseView(DType::kF16, {2, 2, 6, 10});
       },
       "appends without pages"},
      {[](Problem& p) {
         p.inputs[0] = p.outputs[0] = DenseView(DType::kF16, {2, 4, 2, 10});
       },
       "or to more than one row"},
      {[](Problem& p) {
         p.inputs[2] = DenseView(DType::kF16, {9, 2, 3, 8});
         p.outputs[0] = DenseView(DType::kF16, {2, 4, 1, 8});
       },
       "appends keys and values of different heads"},
      {[](Problem& p) { AttrsOf(p).append_pairs = -1; }, "-1 pairs in heads of 10 elements"},
      {[](Problem& p) { AttrsOf(p).append_pairs = 6; }, "6 pairs in heads of 10 elements"},
      {[](Problem& p) {
         for (size_t k : {0, 1, 2}) p.inputs[k].dtype = DType::kF64;
         p.outputs[0].dtype = DType::kF64;
       },
       "appends f64 rows"},
      {[](Problem& p) { p.inputs[6].dtype = DType::kF32; }, "new rows are not of q's dtype"},
      {[](Problem& p) { p.inputs[7].dtype = DType::kBF16; }, "new rows are not of q's dtype"},
      {[](Problem& p) {
         p.inputs[6] = DenseView(DType::kF16, {2, 2, 1, 10});
       },
       "new rows has shape"},
      {[](Problem& p) {
         p.inputs[7] = DenseView(DType::kF16, {2, 1, 2, 8});
       },
       "new rows has shape"},
      {[](Problem& p) { p.inputs[8].dtype = DType::kI64; }, "places are not i32"},
      {[](Problem& p) {
         p.inputs[8] = DenseView(DType::kI32, {2, 2});
       },
       "places has shape"},
      {[](Problem& p) { p.inputs[9].dtype = DType::kF64; }, "cosines or sines are not"},
      {[](Problem& p) { p.inputs[10].dtype = DType::kI32; }, "cosines or sines are not"},
      {[](Problem& p) {
         p.inputs[9] = DenseView(DType::kF32, {2, 1, 5});
       },
       "cosines or sines has shape"},
      {[](Problem& p) {
         p.inputs[10] = DenseView(DType::kF32, {2, 4});
       },
       "cosines or sines has shape"},
      {[](Problem& p) { p.outputs[1].dtype = DType::kBF16; }, "keys are bf16 after and f16 before"},
      {[](Problem& p) {
         p.outputs[1] = DenseView(DType::kF16, {9, 2, 4, 10});
       },
       "keys has shape"},
      {[](Problem& p) { p.outputs[2].dtype = DType::kF32; }, "values are f32 after and f16 before"},
      {[](Problem& p) {
         p.outputs[2] = DenseView(DType::kF16, {8, 2, 3, 10});
       },
       "values has shape"},
      {[](Problem& p) { p.outputs[2].strides[0] = 0; }, "address twice"},
  };
  ExpectBroken(SomeAppending(), kCases);
}

TEST(AppendingAttention, DataAndAnglesMayBeOfThreeDTypes) {
  for (DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
    Problem p = SomeAppending();
    for (size_t k : {0, 1, 2, 6, 7, 9, 10}) p.inputs[k].dtype = dtype;
    for (View& v : p.outputs) v.dtype = dtype;
    EXPECT_EQ(ValidateProblem(p).message(), "") << DTypeName(dtype);
  }
}

// All elements of a head may turn. In pools of no page every new row is left out.
TEST(AppendingAttention, TheLargestAndTheSmallestFormsAreValid) {
  Problem whole = SomeAppending();
  AttrsOf(whole).append_pairs = 5;
  for (size_t k : {9, 10}) whole.inputs[k] = DenseView(DType::kF32, {2, 1, 5});
  EXPECT_EQ(ValidateProblem(whole).message(), "");
  Problem none = SomeAppending();
  for (View* v : {&none.inputs[1], &none.inputs[2], &none.outputs[1], &none.outputs[2]}) {
    *v = DenseView(DType::kF16, {0, 2, 3, 10});
  }
  EXPECT_EQ(ValidateProblem(none).message(), "");
}

TEST(AppendingAttention, PoolsTurnIntoTheOutputsBehindTheResult) {
  const Problem p = SomeAppending(), other = SomeAttention();
  for (int input = 0; input < static_cast<int>(p.inputs.size()); ++input) {
    EXPECT_EQ(OutputInPlaceOf(p, input), input == 1 ? 1 : input == 2 ? 2 : 0) << input;
  }
  for (int input = 0; input < static_cast<int>(other.inputs.size()); ++input) {
    EXPECT_EQ(OutputInPlaceOf(other, input), 0) << input;
  }
}

TEST(AppendingAttention, BytesCountTheNewRowsAndNotThePools) {
  Problem p = SomeAppending();
  const double few = ByteCount(p);
  // New keys and values are read and written, 80 bytes each. Then there are places and two tables.
  EXPECT_NEAR(few - ByteCount(WithoutAppending(p)), 4 * 80 + 16 + 32 + 16, 1e-6);
  for (View* v : {&p.inputs[1], &p.inputs[2], &p.outputs[1], &p.outputs[2]}) {
    *v = DenseView(DType::kF16, {900, 2, 3, 10});
  }
  EXPECT_NEAR(ByteCount(p), few, 1e-6);
}

TEST(AppendingAttention, FlopsCountTheElementsThatTurn) {
  const Problem p = SomeAppending();
  // Six for each of 4 pairs, of 4 query heads and 2 key heads of both requests.
  EXPECT_EQ(FlopCount(p) - FlopCount(WithoutAppending(p)), 6 * 4 * (4 + 2) * 2);
}

TEST(Attention, OnlyAttentionHasAScore) {
  Problem p;
  p.family = Family::kGemm;
  p.attrs = GemmAttrs{};
  p.inputs = {DenseView(DType::kF32, {2, 3}), DenseView(DType::kF32, {3, 4})};
  p.outputs = {DenseView(DType::kF32, {2, 4})};
  p.core_inputs = 2;
  ASSERT_TRUE(ValidateProblem(p).ok());
  p.score = SomeAttention().score;
  EXPECT_NE(ValidateProblem(p).message().find("no score"), std::string::npos);
}

TEST(Attention, CountsWhatTheWindowsLeave) {
  Problem p = SomeAttention();
  AttentionAttrs& a = AttrsOf(p);
  for (RowOrigin rows : {RowOrigin::kFixed, RowOrigin::kLastKeys}) {
    a.rows = rows;
    if (rows == RowOrigin::kFixed) {
      p.inputs.erase(p.inputs.begin() + 5);
      p.core_inputs = 5;
    }
    const AttentionShape s = AttentionShapeOf(p);
    for (int64_t left = -1; left < 5; ++left) {
      for (int64_t right = -1; right < 5; ++right) {
        for (int64_t offset : {-9, -2, 0, 1, 4, 11}) {
          a.window_left = left;
          a.window_right = right;
          a.offset = offset;
          // The count assumes that rows at the last keys end exactly there.
          if (rows == RowOrigin::kLastKeys && offset != 0) continue;
          int64_t pairs = 0;
          for (int64_t i = 0; i < s.rows; ++i) {
            const KeyRange r = VisibleKeys(a, s.keys, FirstPosition(a, s, s.keys, 0) + i);
            for (int64_t j = 0; j < s.keys; ++j) {
              const int64_t position = FirstPosition(a, s, s.keys, 0) + i;
              const bool visible =
                  (left < 0 || position - j <= left) && (right < 0 || j - position <= right);
              EXPECT_EQ(visible, j >= r.begin && j < r.end) << left << right << offset << i << j;
              pairs += visible ? 1 : 0;
            }
          }
          EXPECT_EQ(ScoreCount(p), static_cast<double>(pairs * s.batch * s.query_heads))
              << left << " " << right << " " << offset;
        }
      }
    }
  }
}

TEST(Attention, BytesCountThePagesThatAreNamed) {
  Problem p = SomeAttention();
  const double few = ByteCount(p);
  p.inputs[1] = DenseView(DType::kF16, {900, 2, 3, 5});
  p.inputs[2] = DenseView(DType::kF16, {900, 2, 3, 7});
  EXPECT_NEAR(ByteCount(p), few, 1e-6);
  EXPECT_GT(FlopCount(p), 0);
}

}  // namespace
}  // namespace aicf::abi
