#include <gtest/gtest.h>

#include "kernels/cpu/common/test_step.h"

namespace aicf::cpu {
namespace {

TestStep RandomTopKStep(Random& random) {
  TestStep step;
  abi::Problem& p = step.problem;
  p.family = abi::Family::kTopK;
  const DType dtype = Chance(random, 70)   ? DType::kF32
                      : Chance(random, 50) ? DType::kI32
                                           : DType::kF16;
  const int rank = static_cast<int>(Pick(random, 1, 3));
  Dims shape = RandomShape(random, rank, rank == 1 ? 3000 : 40);
  abi::TopKAttrs a;
  a.axis = Pick(random, 0, rank - 1);
  a.k = Pick(random, 0, std::min<int64_t>(shape[static_cast<int>(a.axis)], 20));
  a.largest = Chance(random, 50);
  p.attrs = a;
  p.inputs.push_back(RandomView(random, dtype, shape, Chance(random, 20)));
  p.core_inputs = 1;
  shape[static_cast<int>(a.axis)] = a.k;
  p.outputs.push_back(RandomView(random, dtype, shape, false));
  p.outputs.push_back(RandomView(random, DType::kI64, shape, false));
  return step;
}

/// Sorted by value with NaN largest, equal values by index: the whole line, from the definition.
std::vector<std::pair<double, int64_t>> SortedLine(const TestStep& step, const int64_t* line) {
  const auto& a = step.problem.as<abi::TopKAttrs>();
  const int axis = static_cast<int>(a.axis);
  int64_t at[kMaxRank];
  std::copy(line, line + kMaxRank, at);
  std::vector<std::pair<double, int64_t>> items;
  for (at[axis] = 0; at[axis] < step.problem.inputs[0].shape[axis]; ++at[axis]) {
    const double v = step.buffers[0].At(at);
    items.emplace_back(std::isnan(v) ? INFINITY : v, at[axis]);
  }
  std::stable_sort(items.begin(), items.end(), [&](const auto& x, const auto& y) {
    return a.largest ? x.first > y.first : x.first < y.first;
  });
  return items;
}

TEST(TopK, VariantsMatchTheReferenceAndTheDefinition) {
  Random random(1);
  int ran = 0;
  for (int i = 0; i < 500 && !HasFailure(); ++i) {
    TestStep step = RandomTopKStep(random);
    step.Prepare(random);
    if (HasFatalFailure()) return;
    const abi::Problem& p = step.problem;
    if (p.inputs[0].dtype == DType::kF32) {
      for (int64_t k = 5; k < step.input(0).elements(); k += 61) step.input(0).Set(k, NAN);
    }
    ran += CompareVariants(step, 0, 0);
    const std::vector<TestBuffer> out = RunVariant(CpuVariants(p.family).back(), step);
    const auto& a = p.as<abi::TopKAttrs>();
    Dims lines = p.inputs[0].shape;
    lines[static_cast<int>(a.axis)] = 1;
    ForEachIndex(lines, [&](const int64_t* line) {
      const auto items = SortedLine(step, line);
      int64_t at[kMaxRank];
      std::copy(line, line + kMaxRank, at);
      for (int64_t k = 0; k < a.k; ++k) {
        at[a.axis] = k;
        const auto& [value, index] = items[static_cast<size_t>(k)];
        ASSERT_EQ(out[1].At(at), static_cast<double>(index)) << abi::ToString(p);
        const double got = out[0].At(at);
        ASSERT_EQ(std::isnan(got) ? INFINITY : got, value);
      }
    });
  }
  EXPECT_GE(ran, 200);
}

}  // namespace
}  // namespace aicf::cpu
