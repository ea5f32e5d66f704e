#include <gtest/gtest.h>

#include "kernels/cpu/common/test_step.h"

namespace aicf::cpu {
namespace {

using abi::ExprOp;
using abi::NormalizeKind;

TestStep RandomNormalizeStep(Random& random) {
  TestStep step;
  abi::Problem& p = step.problem;
  p.family = abi::Family::kNormalize;
  abi::NormalizeAttrs a;
  a.kind = static_cast<NormalizeKind>(Pick(random, 0, 3));
  a.epsilon = 1e-5;
  const int rank = static_cast<int>(Pick(random, 1, 4));
  const Dims shape = RandomShape(random, rank,
                                 rank == 1            ? 40000
                                 : rank == 2          ? 120
                                 : Chance(random, 30) ? 30
                                                      : 12);
  while (a.axes.empty()) {
    for (int axis = 0; axis < rank; ++axis) {
      if (Chance(random, 40)) a.axes.push_back(axis);
    }
  }
  p.attrs = a;
  const DType dtype = Chance(random, 80)   ? DType::kF32
                      : Chance(random, 50) ? DType::kF16
                                           : DType::kF64;
  p.inputs.push_back(RandomView(random, dtype, shape, Chance(random, 20)));
  p.core_inputs = 1;
  p.outputs.push_back(RandomView(random, dtype, shape, false));
  if (dtype == DType::kF64) return step;
  if (Chance(random, 40)) {
    p.inputs.push_back(RandomView(random, DType::kF32, shape, true));
    p.core_inputs = 2;
    abi::ExprBuilder b;
    p.prologue = b.Finish(
        {b.Binary(ExprOp::kAdd, b.Input(0, DType::kF32),
                  b.Binary(ExprOp::kMul, b.Input(1, DType::kF32), b.Const(0.5, DType::kF32)))});
  }
  if (Chance(random, 40)) {
    p.inputs.push_back(RandomView(random, DType::kF32, shape, true));
    abi::ExprBuilder b;
    p.epilogue =
        b.Finish({b.Binary(ExprOp::kMul, b.Input(0, DType::kF32), b.Input(1, DType::kF32))});
  }
  return step;
}

/// Expected output at every point of one group, from the definition in double.
void ExpectGroup(const TestStep& step, const Dims& group, const int64_t* base,
                 const TestBuffer& got, double tolerance) {
  const abi::Problem& p = step.problem;
  const auto& a = p.as<abi::NormalizeAttrs>();
  std::vector<double> x;
  std::vector<std::array<int64_t, kMaxRank>> at;
  ForEachIndex(group, [&](const int64_t* inner) {
    std::array<int64_t, kMaxRank> c{};
    for (int d = 0; d < group.rank(); ++d) c[static_cast<size_t>(d)] = base[d] + inner[d];
    double v = step.buffers[0].At(c.data());
    if (p.core_inputs == 2) v += 0.5 * step.buffers[1].At(c.data());
    x.push_back(v);
    at.push_back(c);
  });
  const auto n = static_cast<double>(x.size());
  const double max = *std::max_element(x.begin(), x.end());
  double sum = 0, mean = 0, squares = 0;
  for (double v : x) sum += std::exp(v - max);
  if (a.kind == NormalizeKind::kLayerNorm) mean = std::accumulate(x.begin(), x.end(), 0.0) / n;
  for (double v : x) squares += (v - mean) * (v - mean);
  for (size_t i = 0; i < x.size(); ++i) {
    double y = (x[i] - mean) / std::sqrt(squares / n + a.epsilon);
    if (a.kind == NormalizeKind::kSoftmax) y = std::exp(x[i] - max) / sum;
    if (a.kind == NormalizeKind::kLogSoftmax) y = x[i] - max - std::log(sum);
    if (!p.epilogue.empty()) y *= step.buffers[p.inputs.size() - 1].At(at[i].data());
    ASSERT_NEAR(got.At(at[i].data()), y, tolerance * (std::fabs(y) + 0.1)) << abi::ToString(p);
  }
}

TEST(Normalize, VariantsMatchTheReferenceAndTheFormula) {
  Random random(1);
  int ran = 0;
  for (int i = 0; i < 500 && !HasFailure(); ++i) {
    TestStep step = RandomNormalizeStep(random);
    step.Prepare(random);
    if (HasFatalFailure()) return;
    const double tolerance = step.problem.outputs[0].dtype == DType::kF16 ? 2e-3 : 4e-6;
    ran += CompareVariants(step, tolerance, tolerance / 10);
    const std::vector<TestBuffer> out =
        RunVariant(CpuVariants(abi::Family::kNormalize).back(), step);
    Dims kept = step.problem.outputs[0].shape;
    Dims group = Dims::Filled(kept.rank(), 1);
    for (int64_t axis : step.problem.as<abi::NormalizeAttrs>().axes) {
      std::swap(kept[static_cast<int>(axis)], group[static_cast<int>(axis)]);
    }
    if (*ElementCount(group) == 0) continue;
    ForEachIndex(kept,
                 [&](const int64_t* base) { ExpectGroup(step, group, base, out[0], tolerance); });
  }
  EXPECT_GE(ran, 400);
}

TEST(Normalize, InPlaceIsTheSameAsApart) {
  Random random(2);
  int checked = 0;
  for (int i = 0; i < 300 && !HasFailure(); ++i) {
    TestStep step = RandomNormalizeStep(random);
    abi::Problem& p = step.problem;
    const size_t input = Chance(random, 70) ? 0 : p.inputs.size() - 1;
    if (p.inputs[input].dtype != p.outputs[0].dtype) continue;
    p.inputs[input] = p.outputs[0];
    step.Prepare(random);
    if (HasFatalFailure()) return;
    for (const abi::KernelInfo& info : CpuVariants(p.family)) {
      if (!info.supports(p, HostDevice()).empty()) continue;
      ASSERT_TRUE(info.in_place(p, static_cast<int>(input)));
      EXPECT_TRUE(SameInPlace(info, step, static_cast<int>(input))) << abi::ToString(p);
      ++checked;
    }
  }
  EXPECT_GE(checked, 250);
}

// Long rows as in a recogniser's last step, large logits, and -infinity as a mask leaves it.
TEST(Normalize, LongSoftmaxRows) {
  Random random(3);
  TestStep step;
  abi::Problem& p = step.problem;
  p.family = abi::Family::kNormalize;
  p.attrs = abi::NormalizeAttrs{NormalizeKind::kSoftmax, {2}, 0};
  p.inputs = {abi::DenseView(DType::kF32, {2, 5, 6625})};
  p.outputs = p.inputs;
  p.core_inputs = 1;
  step.Prepare(random);
  for (int64_t i = 0; i < 2 * 5 * 6625; ++i) {
    step.input(0).Set(
        i, i % 11 == 3 ? -INFINITY : static_cast<double>(Pick(random, -3000, 1000)) / 10);
  }
  EXPECT_GT(CompareVariants(step, 2e-6, 1e-12), 0);
}

// Groups of channels where these are next to each other: runs of 1 to 65 elements alternate in
// memory, beside a batch, with parameters of the channels and of the groups, and in place.
TEST(Normalize, GroupsThatAlternateInMemory) {
  Random random(4);
  for (int64_t run : {1, 3, 4, 10, 64, 65}) {
    for (const Dims& extents : {Dims{1, 3, 37}, Dims{2, 2, 64}, Dims{2, 1, 5}, Dims{1, 40, 90}}) {
      for (NormalizeKind kind :
           {NormalizeKind::kSoftmax, NormalizeKind::kLayerNorm, NormalizeKind::kRmsNorm}) {
        const int64_t groups = extents[1], positions = extents[2], line = groups * run;
        TestStep step;
        abi::Problem& p = step.problem;
        p.family = abi::Family::kNormalize;
        p.attrs = abi::NormalizeAttrs{kind, {2, 3}, 0.01};
        const Dims shape = {extents[0], groups, run, positions};
        const abi::View x{DType::kF32, shape, {line * positions, run, 1, line}, 0};
        const abi::View channel{DType::kF32, shape, {0, run, 1, 0}, 0};
        const abi::View group{DType::kF32, shape, {0, 1, 0, 0}, 0};
        for (const abi::View& extra : {channel, group}) {
          p.inputs = {x, extra};
          p.outputs = {x};
          p.core_inputs = 1;
          abi::ExprBuilder b;
          p.epilogue = b.Finish(
              {b.Binary(abi::ExprOp::kMul, b.Input(0, DType::kF32), b.Input(1, DType::kF32))});
          step.Prepare(random);
          if (HasFatalFailure()) return;
          EXPECT_GT(CompareVariants(step, 4e-6, 4e-7), 0) << abi::ToString(p);
          for (const abi::KernelInfo& info : CpuVariants(p.family)) {
            if (!info.supports(p, HostDevice()).empty()) continue;
            EXPECT_TRUE(SameInPlace(info, step, 0)) << abi::ToString(p);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace aicf::cpu
