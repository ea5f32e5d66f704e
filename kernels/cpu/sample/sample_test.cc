#include <gtest/gtest.h>

#include "kernels/cpu/common/test_step.h"

namespace aicf::cpu {
namespace {

using abi::ResizeMode;
using abi::SamplePadding;

TestStep RandomSampleStep(Random& random, bool plain) {
  TestStep step;
  abi::Problem& p = step.problem;
  p.family = abi::Family::kSample;
  const int spatial = static_cast<int>(Pick(random, 1, 3));
  abi::SampleAttrs a;
  a.mode = static_cast<ResizeMode>(Pick(random, 0, spatial == 3 ? 1 : 2));
  a.padding = static_cast<SamplePadding>(Pick(random, 0, 2));
  a.align_corners = Chance(random, 50);
  p.attrs = a;
  constexpr DType kFloats[] = {DType::kF32, DType::kF64, DType::kF16, DType::kBF16};
  const bool any = a.mode == ResizeMode::kNearest && Chance(random, 30);
  const DType dtype = plain ? DType::kF32
                      : any ? static_cast<DType>(Pick(random, 0, kDTypeCount - 1))
                            : kFloats[Pick(random, 0, 3)];
  const DType grid_type = plain ? DType::kF32 : kFloats[Pick(random, 0, 2)];
  Dims x = {Pick(random, 1, 2), Pick(random, 1, 3)}, grid = {x[0]}, out = x;
  for (int d = 0; d < spatial; ++d) {
    x.push_back(Pick(random, 1, 6));
    out.push_back(Pick(random, 1, Chance(random, 10) ? 40 : 6));
    grid.push_back(out[d + 2]);
  }
  grid.push_back(spatial);
  p.inputs = {RandomView(random, dtype, x, Chance(random, 20)),
              RandomView(random, grid_type, grid, Chance(random, 20))};
  p.core_inputs = 2;
  p.outputs = {RandomView(random, dtype, out, false)};
  return step;
}

/// Grid values in sixteenths within [-1.5, 1.5], so that coordinates are exact.
void FillGrid(Random& random, TestStep& step) {
  for (int64_t i = 0; i < step.input(1).elements(); ++i) {
    step.input(1).Set(i, static_cast<double>(Pick(random, -24, 24)) / 16);
  }
}

double Mirror(double v, double low, double high) {
  if (high <= low) return low;
  // A walk of unfolded mirror images: period 2 * (high - low).
  const double period = 2 * (high - low);
  double t = std::fmod(v - low, period);
  if (t < 0) t += period;
  return low + (t <= high - low ? t : period - t);
}

/// Element and weight of each tap along one axis; an element of -1 is zero.
std::vector<std::pair<int64_t, double>> Taps(const abi::SampleAttrs& a, int64_t extent, double n) {
  const double low = a.align_corners ? 0 : -0.5;
  const double high = static_cast<double>(extent) - (a.align_corners ? 1 : 0.5);
  const auto length = static_cast<double>(extent);
  double v = a.align_corners ? (n + 1) / 2 * (length - 1) : ((n + 1) * length - 1) / 2;
  if (a.mode == ResizeMode::kNearest) v = std::nearbyint(v);
  const bool moves = a.mode != ResizeMode::kCubic;  // cubic taps are padded one by one
  if (moves && a.padding == SamplePadding::kBorder && (v < low || v > high)) {
    v = std::clamp(v, 0.0, length - 1);
  }
  if (moves && a.padding == SamplePadding::kReflection) v = Mirror(v, low, high);
  const auto element = [&](double at) {
    if (a.padding == SamplePadding::kReflection) at = std::trunc(Mirror(at, low, high));
    if (a.padding != SamplePadding::kZeros) at = std::clamp(at, 0.0, length - 1);
    return at >= 0 && at < length ? static_cast<int64_t>(at) : -1;
  };
  const double base = std::floor(v), t = v - base;
  if (a.mode == ResizeMode::kNearest) return {{element(v), 1}};
  if (a.mode == ResizeMode::kLinear) return {{element(base), 1 - t}, {element(base + 1), t}};
  std::vector<std::pair<int64_t, double>> taps;
  for (int k = -1; k <= 2; ++k) {
    const double d = std::fabs(t - k), c = -0.75;
    const double w = d <= 1 ? (c + 2) * d * d * d - (c + 3) * d * d + 1
                            : c * d * d * d - 5 * c * d * d + 8 * c * d - 4 * c;
    taps.emplace_back(element(base + k), w);
  }
  return taps;
}

double ExpectedSample(TestStep& step, const int64_t* at) {
  const abi::Problem& p = step.problem;
  const Dims& x = p.inputs[0].shape;
  const int spatial = x.rank() - 2;
  int64_t grid[kMaxRank] = {at[0]};
  for (int d = 0; d < spatial; ++d) grid[d + 1] = at[d + 2];
  std::vector<std::pair<int64_t, double>> taps[3] = {{{0, 1}}, {{0, 1}}, {{0, 1}}};
  for (int d = 0; d < spatial; ++d) {
    grid[spatial + 1] = spatial - 1 - d;
    taps[d] = Taps(p.as<abi::SampleAttrs>(), x[d + 2], step.input(1).At(grid));
  }
  double sum = 0;
  for (auto [i, wi] : taps[0]) {
    for (auto [j, wj] : taps[1]) {
      for (auto [k, wk] : taps[2]) {
        if (i < 0 || j < 0 || k < 0) continue;
        const int64_t from[kMaxRank] = {at[0], at[1], i, spatial > 1 ? j : 0, spatial > 2 ? k : 0};
        sum += wi * wj * wk * step.input(0).At(from);
      }
    }
  }
  return sum;
}

void CheckAgainstDefinition(TestStep& step) {
  const abi::Problem& p = step.problem;
  const std::vector<TestBuffer> out = RunVariant(CpuVariants(p.family).back(), step);
  const DType dtype = p.inputs[0].dtype;
  const double tolerance = dtype == DType::kBF16 ? 1e-2 : dtype == DType::kF16 ? 2e-3 : 1e-5;
  ForEachIndex(p.outputs[0].shape, [&](const int64_t* at) {
    const double want = ExpectedSample(step, at), got = out[0].At(at);
    if (std::isnan(want) && std::isnan(got)) return;
    ASSERT_NEAR(got, want, tolerance * (1 + std::fabs(want))) << abi::ToString(p);
  });
}

TEST(Sample, VariantsMatchTheReferenceAndTheDefinition) {
  Random random(41);
  int ran = 0;
  for (int i = 0; i < 500 && !HasFailure(); ++i) {
    TestStep step = RandomSampleStep(random, i % 2 == 0);
    step.Prepare(random);
    if (HasFatalFailure()) return;
    FillGrid(random, step);
    ran += CompareVariants(step, 1e-5, 1e-5);
    CheckAgainstDefinition(step);
  }
  EXPECT_GE(ran, 250);
}

// Coordinates that are no numbers, or far away, read nothing outside and never trap.
TEST(Sample, WildCoordinatesStayInside) {
  Random random(42);
  int ran = 0;
  for (int i = 0; i < 200; ++i) {
    TestStep step = RandomSampleStep(random, true);
    step.Prepare(random);
    const double wild[] = {NAN, INFINITY, -INFINITY, 1e30, -1e30, 3e9, -3e9};
    for (int64_t k = 0; k < step.input(1).elements(); ++k) {
      step.input(1).Set(k, wild[Pick(random, 0, 6)]);
    }
    ran += CompareVariants(step, 1e-5, 1e-5);
    const std::vector<TestBuffer> out = RunVariant(CpuVariants(step.problem.family).back(), step);
    const auto& a = step.problem.as<abi::SampleAttrs>();
    // An axis of one element between aligned corners has one place, wherever the grid points.
    const Dims& x = step.problem.inputs[0].shape;
    const bool one = a.align_corners && std::count(x.begin() + 2, x.end(), 1) > 0;
    if (a.padding != SamplePadding::kZeros || one) continue;
    ForEachIndex(step.problem.outputs[0].shape,
                 [&](const int64_t* at) { ASSERT_EQ(out[0].At(at), 0); });
  }
  EXPECT_GE(ran, 200);
}

}  // namespace
}  // namespace aicf::cpu
