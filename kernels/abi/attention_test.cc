#include "kernels/abi/attention.h"

#include <gtest/gtest.h>

#include "kernels/abi/variant.h"

#include <limits>

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
  p.score = b.Finish({b.Select(b.Input(1, DType::kBool), b.Input(0, DType::kF32), none)});
  return p;
}

AttentionAttrs& AttrsOf(Problem& p) { return std::get<AttentionAttrs>(p.attrs); }

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
  const auto broken = [](auto change) {
    Problem p = SomeAttention();
    change(p);
    return ValidateProblem(p).message();
  };
  const struct {
    void (*change)(Problem&);
    const char* sentence;
  } kCases[] = {
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
  EXPECT_EQ(broken([](Problem&) {}), "");
  for (const auto& c : kCases) {
    EXPECT_NE(broken(c.change).find(c.sentence), std::string::npos)
        << c.sentence << ": " << broken(c.change);
  }
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
