// The reference against sums written out in the test, and what the definition says of special
// values.
#include <limits>

#include "kernels/abi/attention.h"
#include "kernels/cpu/common/test_step.h"

namespace aicf::cpu {
namespace {

using abi::AttentionAttrs;
using abi::DenseView;
using abi::ExprOp;

constexpr float kNone = -std::numeric_limits<float>::infinity();

/// Dense f32 attention of one request; `keys` of the step may be fewer than Tk.
TestStep MakeStep(int64_t heads, int64_t key_heads, int64_t rows, int64_t keys, int64_t head,
                  int64_t value_head) {
  TestStep step;
  abi::Problem& p = step.problem;
  p.family = abi::Family::kAttention;
  p.attrs = AttentionAttrs{};
  p.inputs = {DenseView(DType::kF32, {1, heads, rows, head}),
              DenseView(DType::kF32, {1, key_heads, keys, head}),
              DenseView(DType::kF32, {1, key_heads, keys, value_head})};
  p.core_inputs = 3;
  p.outputs = {DenseView(DType::kF32, {1, heads, rows, value_head}),
               DenseView(DType::kF32, {1, heads, rows})};
  return step;
}

AttentionAttrs& AttrsOf(TestStep& step) { return std::get<AttentionAttrs>(step.problem.attrs); }

std::vector<TestBuffer> RunRef(const TestStep& step) {
  return RunVariant(*abi::FindKernel("cpu.attention.ref"), step);
}

TEST(AttentionRef, IsTheSumWrittenOut) {
  Random random(7);
  TestStep step = MakeStep(6, 2, 4, 9, 5, 300);
  AttrsOf(step).scale = 0.5;
  AttrsOf(step).window_right = 1;
  AttrsOf(step).window_left = 3;
  AttrsOf(step).offset = 2;
  step.Prepare(random);
  const std::vector<TestBuffer> got = RunRef(step);
  for (int64_t h = 0; h < 6; ++h) {
    for (int64_t i = 0; i < 4; ++i) {
      double total = 0;
      std::vector<double> sum(300, 0.0);
      for (int64_t j = 0; j < 9; ++j) {
        if (j > i + 2 + 1 || j < i + 2 - 3) continue;
        double s = 0;
        for (int64_t d = 0; d < 5; ++d) {
          s += step.input(0).At((h * 4 + i) * 5 + d) * step.input(1).At((h / 3 * 9 + j) * 5 + d);
        }
        const double weight = std::exp(0.5 * s);
        total += weight;
        for (int64_t c = 0; c < 300; ++c) {
          sum[static_cast<size_t>(c)] += weight * step.input(2).At((h / 3 * 9 + j) * 300 + c);
        }
      }
      EXPECT_NEAR(got[1].At(h * 4 + i), std::log(total), 1e-5);
      for (int64_t c = 0; c < 300; ++c) {
        const double want = sum[static_cast<size_t>(c)] / total;
        EXPECT_NEAR(got[0].At((h * 4 + i) * 300 + c), want, 1e-5 * (1 + std::fabs(want)));
      }
    }
  }
}

TEST(AttentionRef, RowsWithoutKeysAreZeroAndNothingLeaksFromUnusedSlots) {
  Random random(8);
  TestStep step = MakeStep(2, 1, 3, 8, 4, 4);
  AttrsOf(step).lengths = true;
  AttrsOf(step).rows = abi::RowOrigin::kLastKeys;
  AttrsOf(step).window_right = 0;
  step.problem.inputs.push_back(DenseView(DType::kI32, {1}));
  step.problem.core_inputs = 4;
  step.Prepare(random);
  for (int64_t length : {-3, 0, 1, 2, 8, 99}) {
    step.input(3).Set(0, static_cast<double>(length));
    const int64_t valid = std::clamp<int64_t>(length, 0, 8);
    Random again(8);
    for (size_t k = 1; k < 3; ++k) {
      step.input(k).Fill(again);
      for (int64_t i = valid * 4; i < 32; ++i) step.input(k).Set(i, std::nan(""));
    }
    const std::vector<TestBuffer> got = RunRef(step);
    for (int64_t i = 0; i < 6; ++i) {
      const bool sees = valid - 3 + i % 3 >= 0;
      EXPECT_EQ(std::isfinite(got[1].At(i)), sees) << length << " row " << i;
      for (int64_t c = 0; c < 4; ++c) {
        EXPECT_TRUE(std::isfinite(got[0].At(i * 4 + c)));
        if (!sees) {
          EXPECT_EQ(got[0].At(i * 4 + c), 0);
        }
      }
      if (!sees) {
        EXPECT_EQ(got[1].At(i), kNone);
      }
    }
  }
}

TEST(AttentionRef, SpecialScoresMakeSpecialRows) {
  Random random(9);
  TestStep step = MakeStep(1, 1, 4, 5, 2, 3);
  abi::Problem& p = step.problem;
  p.inputs.push_back(DenseView(DType::kF32, {1, 1, 4, 5}));
  abi::ExprBuilder b;
  p.score = b.Finish({b.Binary(ExprOp::kAdd, b.Input(0, DType::kF32), b.Input(1, DType::kF32))});
  step.Prepare(random);
  for (int64_t i = 0; i < 20; ++i) step.input(3).Set(i, 0);
  for (int64_t j = 0; j < 5; ++j) step.input(3).Set(j, static_cast<double>(kNone));
  step.input(3).Set(5 + 3, std::nan(""));
  step.input(3).Set(10 + 4, -static_cast<double>(kNone));
  step.input(3).Set(15 + 0, static_cast<double>(kNone));
  const std::vector<TestBuffer> got = RunRef(step);
  for (int64_t c = 0; c < 3; ++c) {
    EXPECT_EQ(got[0].At(c), 0);
    EXPECT_TRUE(std::isnan(got[0].At(3 + c)));
    EXPECT_TRUE(std::isnan(got[0].At(6 + c)));
    EXPECT_TRUE(std::isfinite(got[0].At(9 + c)));
  }
  EXPECT_EQ(got[1].At(int64_t{0}), kNone);
  EXPECT_TRUE(std::isnan(got[1].At(1)));
  EXPECT_TRUE(std::isfinite(got[1].At(3)));
}

TEST(AttentionRef, PagesAreTheirRowsInTheTablesOrder) {
  Random random(10);
  TestStep whole = MakeStep(4, 2, 3, 12, 6, 5);
  whole.Prepare(random);
  // The same keys in pages of 4 with the token axis outermost in memory; one page is nobody's.
  TestStep paged = whole;
  abi::Problem& p = paged.problem;
  AttrsOf(paged).pages = true;
  p.inputs[1] = {DType::kF32, {5, 2, 4, 6}, {48, 6, 12, 1}, 0};
  p.inputs[2] = {DType::kF32, {5, 2, 4, 5}, {40, 5, 10, 1}, 0};
  p.inputs.push_back(DenseView(DType::kI32, {1, 3}));
  p.core_inputs = 4;
  paged.Prepare(random);
  paged.buffers[0] = whole.buffers[0];
  const int64_t table[] = {3, 0, 4};
  for (int64_t j = 0; j < 12; ++j) {
    paged.input(3).Set(j / 4, static_cast<double>(table[j / 4]));
    for (int64_t g = 0; g < 2; ++g) {
      const int64_t to[] = {table[j / 4], g, j % 4};
      for (int64_t d = 0; d < 6; ++d) {
        paged.input(1).Set(to[0] * 48 + g * 6 + to[2] * 12 + d,
                           whole.input(1).At((g * 12 + j) * 6 + d));
      }
      for (int64_t c = 0; c < 5; ++c) {
        paged.input(2).Set(to[0] * 40 + g * 5 + to[2] * 10 + c,
                           whole.input(2).At((g * 12 + j) * 5 + c));
      }
    }
  }
  EXPECT_TRUE(NearBuffers(RunRef(whole), RunRef(paged), 0, 0));
  // A page outside the pool: its keys are as if they were not there.
  paged.input(3).Set(1, 5);
  const std::vector<TestBuffer> without = RunRef(paged);
  for (int64_t outside : {-1, 1 << 30}) {
    paged.input(3).Set(1, static_cast<double>(outside));
    EXPECT_TRUE(NearBuffers(without, RunRef(paged), 0, 0));
  }
  EXPECT_FALSE(NearBuffers(RunRef(whole), without, 1e-3, 1e-3));
}

// One request with one head of 2 elements, which turns by a quarter: (x, y) becomes (-y, x). Its
// keys are rows 2 and 3 of a pool of 2 pages of 2 rows. Row 2 is (2, 2.5) of the keys, and (-2,
// -2.5) of the values.
TestStep AppendingStep(int64_t length, int64_t page, int64_t row) {
  TestStep step;
  abi::Problem& p = step.problem;
  p.family = abi::Family::kAttention;
  AttentionAttrs a;
  a.lengths = a.pages = true;
  a.append_pairs = 1;
  p.attrs = a;
  const abi::View pool = DenseView(DType::kF32, {2, 1, 2, 2});
  const abi::View head = DenseView(DType::kF32, {1, 1, 1, 2});
  const abi::View angle = DenseView(DType::kF32, {1, 1, 1});
  p.inputs = {head,
              pool,
              pool,
              DenseView(DType::kI32, {1}),
              DenseView(DType::kI32, {1, 1}),
              head,
              head,
              DenseView(DType::kI32, {1, 1, 2}),
              angle,
              angle};
  p.core_inputs = 10;
  p.outputs = {head, pool, pool};
  Random random(14);
  step.Prepare(random);
  for (int64_t i = 0; i < 8; ++i) {
    step.input(1).Set(i, static_cast<double>(i) / 2);
    step.input(2).Set(i, static_cast<double>(i) / -2);
  }
  step.input(3).Set(0, static_cast<double>(length));
  step.input(4).Set(0, 1);
  step.input(7).Set(0, static_cast<double>(page));
  step.input(7).Set(1, static_cast<double>(row));
  step.input(8).Set(0, 0);
  step.input(9).Set(0, 1);
  return step;
}

void SetPair(TestBuffer& buffer, int64_t row, double x, double y) {
  buffer.Set(2 * row, x);
  buffer.Set(2 * row + 1, y);
}

// Expects that row `row` of a pool is (x, y), and all other rows are as in `before`. A row of -1
// is none.
void ExpectOneRowChanged(const TestBuffer& before, const TestBuffer& after, int64_t row, double x,
                         double y) {
  for (int64_t i = 0; i < 8; ++i) {
    const double want = i / 2 != row ? before.At(i) : i % 2 == 0 ? x : y;
    EXPECT_EQ(after.At(i), want) << i;
  }
}

TEST(AttentionRef, AppendsATurnedKeyAndTheValueAsItIs) {
  TestStep step = AppendingStep(1, 1, 0);
  SetPair(step.input(5), 0, 3, 5);
  SetPair(step.input(6), 0, 7, 9);
  const std::vector<TestBuffer> got = RunRef(step);
  // The new row is the only visible one, so that its value is the result.
  EXPECT_EQ(got[0].At(int64_t{0}), 7);
  EXPECT_EQ(got[0].At(1), 9);
  ExpectOneRowChanged(step.input(1), got[1], 2, -5, 3);
  ExpectOneRowChanged(step.input(2), got[2], 2, 7, 9);
}

TEST(AttentionRef, QueriesTurnBeforeTheyMeetTheNewKey) {
  TestStep step = AppendingStep(2, 1, 1);
  SetPair(step.input(0), 0, 1, 0);            // turns to (0, 1)
  SetPair(step.input(1), 2, 0, 0);            // the older key: its score is 0
  SetPair(step.input(5), 0, std::log(3), 0);  // turns to (0, log 3): its score is log 3
  SetPair(step.input(2), 2, 0, 8);
  SetPair(step.input(6), 0, 4, 0);
  const std::vector<TestBuffer> got = RunRef(step);
  EXPECT_NEAR(got[0].At(int64_t{0}), 3, 1e-6);  // three quarters of 4
  EXPECT_NEAR(got[0].At(1), 2, 1e-6);           // one quarter of 8
}

TEST(AttentionRef, ARowWithItsPlaceOutsideThePoolIsLeftOut) {
  const int64_t kPlaces[][2] = {{-1, 0}, {2, 0}, {1, -1}, {1, 2}};
  for (const auto& [page, row] : kPlaces) {
    TestStep step = AppendingStep(1, page, row);
    const std::vector<TestBuffer> got = RunRef(step);
    ExpectOneRowChanged(step.input(1), got[1], -1, 0, 0);
    ExpectOneRowChanged(step.input(2), got[2], -1, 0, 0);
    EXPECT_EQ(got[0].At(int64_t{0}), -2) << "the value that was there";
    EXPECT_EQ(got[0].At(1), -2.5);
  }
}

TEST(AttentionRef, ThePoolsThatItAppendsToMayBeChangedInPlace) {
  const abi::KernelInfo& ref = *abi::FindKernel("cpu.attention.ref");
  abi::Problem p = AppendingStep(1, 1, 0).problem;
  for (int input = 0; input < 10; ++input) {
    EXPECT_EQ(ref.in_place(p, input), input == 1 || input == 2) << input;
  }
  p.outputs[2].strides = {4, 4, 1, 2};
  EXPECT_TRUE(ref.in_place(p, 1));
  EXPECT_FALSE(ref.in_place(p, 2)) << "other elements";
  EXPECT_FALSE(ref.in_place(MakeStep(1, 1, 2, 2, 2, 2).problem, 1)) << "appends nothing";
}

TEST(AttentionFlash, AppendsNothing) {
  const TestStep step = AppendingStep(1, 1, 0);
  EXPECT_EQ(abi::FindKernel("cpu.attention.flash_baseline")->supports(step.problem, HostDevice()),
            "does not append to its keys and values");
}

// Rows that fill no tile, several tiles, shared tiles of few rows, keys that end inside a block;
// run in pieces and backwards. tests/conformance meets the rest.
TEST(AttentionFlash, VariantsAgreeWithTheReference) {
  Random random(12);
  const int64_t kSizes[][6] = {{2, 1, 130, 130, 64, 64}, {6, 2, 1, 200, 33, 70},
                               {8, 1, 3, 65, 128, 8},    {1, 1, 57, 1, 1, 1},
                               {3, 3, 20, 64, 16, 300},  {64, 1, 2, 9, 4, 4}};
  for (const auto& n : kSizes) {
    for (DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
      TestStep step = MakeStep(n[0], n[1], n[2], n[3], n[4], n[5]);
      AttrsOf(step).scale = 1 / (16 * std::sqrt(static_cast<double>(n[4])));
      AttrsOf(step).rows = abi::RowOrigin::kLastKeys;
      if (n[2] > 1) AttrsOf(step).window_right = 0;
      for (size_t k = 0; k < 3; ++k) step.problem.inputs[k].dtype = dtype;
      step.problem.outputs[0].dtype = dtype;
      step.Prepare(random);
      // Values of at most 4; roundings of the output's dtype, and of sums in f32.
      const double unit = dtype == DType::kF32 ? 0x1p-22 : dtype == DType::kF16 ? 0x1p-11 : 0x1p-8;
      EXPECT_GE(CompareVariants(step, 2 * unit, 64 * 0x1p-22), 1);
    }
  }
}

/// One elementwise step over four (or two) operands of one shape.
std::vector<double> Merge(const abi::Expr& expr, const std::vector<std::vector<double>>& inputs) {
  std::vector<double> out;
  for (size_t i = 0; i < inputs[0].size(); ++i) {
    Scalar at[4], result[1];
    for (size_t k = 0; k < inputs.size(); ++k) at[k] = ScalarFromDouble(inputs[k][i], DType::kF32);
    EvalScalar(expr, at, nullptr, result);
    out.push_back(result[0].f);
  }
  return out;
}

TEST(AttentionMerge, PartsOverDisjointKeysGiveTheWhole) {
  Random random(11);
  TestStep whole = MakeStep(2, 1, 3, 10, 4, 4);
  whole.Prepare(random);
  const std::vector<TestBuffer> want = RunRef(whole);
  for (int64_t split : {0, 3, 10}) {
    std::vector<std::vector<double>> outs(4, std::vector<double>(24));
    std::vector<std::vector<double>> logs(2, std::vector<double>(6));
    for (size_t part = 0; part < 2; ++part) {
      TestStep some = whole;
      const int64_t count = part == 0 ? split : 10 - split;
      for (size_t k = 1; k < 3; ++k) {
        some.problem.inputs[k] = {DType::kF32, {1, 1, count, 4}, {40, 40, 4, 1}, 0};
        some.problem.inputs[k].offset = part == 0 ? 0 : split * 4;
      }
      const std::vector<TestBuffer> got = RunRef(some);
      for (int64_t i = 0; i < 24; ++i) {
        outs[part][static_cast<size_t>(i)] = got[0].At(i);
        outs[part + 2][static_cast<size_t>(i)] = got[1].At(i / 4);
      }
      for (int64_t i = 0; i < 6; ++i) logs[part][static_cast<size_t>(i)] = got[1].At(i);
    }
    const abi::Expr output = abi::MergedOutput(DType::kF32), log = abi::MergedLogSum(DType::kF32);
    ASSERT_TRUE(abi::ValidateExpr(output, std::vector<DType>(4, DType::kF32), 4).ok());
    ASSERT_TRUE(abi::ValidateExpr(log, std::vector<DType>(2, DType::kF32), 3).ok());
    const std::vector<double> merged = Merge(output, outs), logs_merged = Merge(log, logs);
    for (int64_t i = 0; i < 24; ++i) {
      EXPECT_NEAR(merged[static_cast<size_t>(i)], want[0].At(i), 1e-5) << split;
    }
    for (int64_t i = 0; i < 6; ++i) {
      EXPECT_NEAR(logs_merged[static_cast<size_t>(i)], want[1].At(i), 1e-5) << split;
    }
  }
}

TEST(AttentionMerge, TwoEmptyPartsAreEmpty) {
  const double none = static_cast<double>(kNone);
  EXPECT_EQ(Merge(abi::MergedOutput(DType::kF32), {{0}, {0}, {none}, {none}})[0], 0);
  EXPECT_EQ(Merge(abi::MergedLogSum(DType::kF32), {{none}, {none}})[0], none);
}

}  // namespace
}  // namespace aicf::cpu
