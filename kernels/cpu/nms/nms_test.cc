#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/cpu/common/test_step.h"

namespace aicf::cpu {
namespace {

struct Extents {
  int64_t batches, classes, boxes, rows;
};

TestStep MakeStep(Random& random, const Extents& e, bool center) {
  TestStep step;
  abi::Problem& p = step.problem;
  p.family = abi::Family::kNms;
  p.attrs = abi::NmsAttrs{center};
  p.inputs = {RandomView(random, DType::kF32, {e.batches, e.boxes, 4}, false),
              RandomView(random, DType::kF32, {e.batches, e.classes, e.boxes}, false),
              RandomView(random, DType::kI64, {1}, false),
              RandomView(random, DType::kF32, {1}, false),
              RandomView(random, DType::kF32, {1}, false)};
  p.core_inputs = 5;
  p.outputs = {RandomView(random, DType::kI64, {e.rows, 3}, false),
               RandomView(random, DType::kI64, {1}, false)};
  return step;
}

TestStep RandomNmsStep(Random& random) {
  Extents e{Pick(random, 0, 2), Pick(random, 1, 3), Pick(random, 0, 30), 0};
  e.rows = e.batches * e.classes * Pick(random, 0, std::max<int64_t>(1, e.boxes));
  return MakeStep(random, e, Chance(random, 50));
}

/// Boxes in eighths of a small field, so that many overlap and every area is exact; few distinct
/// scores, so that some are equal.
void FillOperands(Random& random, TestStep& step) {
  for (int64_t i = 0; i < step.input(0).elements(); ++i) {
    step.input(0).Set(i, static_cast<double>(Pick(random, 0, 40)) / 8);
  }
  for (int64_t i = 0; i < step.input(1).elements(); ++i) {
    step.input(1).Set(i, static_cast<double>(Pick(random, 0, 64)) / 64);
  }
  const auto set = [&](size_t k, double v) { step.input(k).Set(step.problem.inputs[k].offset, v); };
  set(2, static_cast<double>(Pick(random, -1, 12)));
  set(3, static_cast<double>(Pick(random, 1, 15)) / 16 + 1.0 / 64);
  set(4, static_cast<double>(Pick(random, 0, 8)) / 16);
}

struct Box {
  double x0, y0, x1, y1;
  double Area() const { return (x1 - x0) * (y1 - y0); }
};

Box BoxOf(TestStep& step, int64_t n, int64_t i) {
  double v[4];
  for (int64_t k = 0; k < 4; ++k) {
    const int64_t at[kMaxRank] = {n, i, k};
    v[k] = step.input(0).At(at);
  }
  if (step.problem.as<abi::NmsAttrs>().center_point_box) {
    return {v[0] - v[2] / 2, v[1] - v[3] / 2, v[0] + v[2] / 2, v[1] + v[3] / 2};
  }
  return {std::min(v[1], v[3]), std::min(v[0], v[2]), std::max(v[1], v[3]), std::max(v[0], v[2])};
}

double Overlap(const Box& a, const Box& b) {
  const double w = std::max(0.0, std::min(a.x1, b.x1) - std::max(a.x0, b.x0));
  const double h = std::max(0.0, std::min(a.y1, b.y1) - std::max(a.y0, b.y0));
  return w * h > 0 ? w * h / (a.Area() + b.Area() - w * h) : 0;
}

/// Rows (batch, class, box) by sorting all candidates once.
std::vector<std::array<int64_t, 3>> ExpectedSelection(TestStep& step) {
  const abi::Problem& p = step.problem;
  const Dims& scores = p.inputs[1].shape;
  const auto value = [&](size_t k) {
    const int64_t zero[kMaxRank] = {};
    return step.input(k).At(zero);
  };
  const int64_t pairs = scores[0] * scores[1];
  const auto planned = pairs == 0 ? 0 : p.outputs[0].shape[0] / pairs;
  const int64_t limit = std::min(planned, static_cast<int64_t>(value(2)));
  std::vector<std::array<int64_t, 3>> rows;
  for (int64_t pair = 0; pair < pairs; ++pair) {
    const int64_t n = pair / scores[1], c = pair % scores[1];
    const auto score = [&](int64_t i) {
      const int64_t at[kMaxRank] = {n, c, i};
      return step.input(1).At(at);
    };
    std::vector<int64_t> order, kept;
    for (int64_t i = 0; i < scores[2]; ++i) {
      if (score(i) > value(4)) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return score(a) > score(b); });
    for (int64_t i : order) {
      if (static_cast<int64_t>(kept.size()) >= limit) break;
      const bool covered = std::any_of(kept.begin(), kept.end(), [&](int64_t k) {
        return Overlap(BoxOf(step, n, i), BoxOf(step, n, k)) > value(3);
      });
      if (!covered) kept.push_back(i);
    }
    for (int64_t i : kept) rows.push_back({n, c, i});
  }
  return rows;
}

TEST(Nms, VariantsMatchTheReferenceAndTheDefinition) {
  Random random(61);
  int ran = 0;
  int64_t selected = 0;
  for (int i = 0; i < 400 && !HasFailure(); ++i) {
    TestStep step = RandomNmsStep(random);
    step.Prepare(random);
    if (HasFatalFailure()) return;
    FillOperands(random, step);
    ran += CompareVariants(step, 0, 0);
    const abi::Problem& p = step.problem;
    const std::vector<TestBuffer> out = RunVariant(CpuVariants(p.family).back(), step);
    const auto want = ExpectedSelection(step);
    const int64_t zero[kMaxRank] = {};
    ASSERT_EQ(out[1].At(zero), static_cast<double>(want.size())) << abi::ToString(p);
    selected += static_cast<int64_t>(want.size());
    for (int64_t row = 0; row < p.outputs[0].shape[0]; ++row) {
      for (int64_t k = 0; k < 3; ++k) {
        const int64_t at[kMaxRank] = {row, k};
        const bool filled = row < static_cast<int64_t>(want.size());
        ASSERT_EQ(out[0].At(at), filled ? static_cast<double>(want[row][k]) : -1)
            << "row " << row << "\n"
            << abi::ToString(p);
      }
    }
  }
  EXPECT_EQ(ran, 400);
  EXPECT_GE(selected, 2000);
}

// Degenerate boxes and values that are no numbers are treated alike by every variant.
TEST(Nms, VariantsAgreeOnWildValues) {
  Random random(62);
  for (int i = 0; i < 100; ++i) {
    TestStep step = RandomNmsStep(random);
    step.Prepare(random);
    FillOperands(random, step);
    const double wild[] = {NAN, INFINITY, -INFINITY, 0, -0.0};
    for (size_t k : {size_t{0}, size_t{1}}) {
      for (int64_t e = 0; e < step.input(k).elements(); ++e) {
        if (Chance(random, 10)) step.input(k).Set(e, wild[Pick(random, 0, 4)]);
      }
    }
    CompareVariants(step, 0, 0);
  }
}

}  // namespace
}  // namespace aicf::cpu
