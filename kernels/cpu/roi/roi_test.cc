#include <gtest/gtest.h>

#include "kernels/cpu/common/test_step.h"

namespace aicf::cpu {
namespace {

using abi::RoiKind;

TestStep RandomRoiStep(Random& random, bool plain) {
  TestStep step;
  abi::Problem& p = step.problem;
  p.family = abi::Family::kRoi;
  abi::RoiAttrs a;
  a.kind = plain ? RoiKind::kAlignAverage : static_cast<RoiKind>(Pick(random, 0, 2));
  a.spatial_scale = Chance(random, 50) ? 1 : 0.5;
  a.sampling_ratio = Pick(random, 0, 3);
  a.half_pixel = Chance(random, 50);
  p.attrs = a;
  constexpr DType kFloats[] = {DType::kF32, DType::kF64, DType::kF16};
  const DType dtype = plain ? DType::kF32 : kFloats[Pick(random, 0, 2)];
  const Dims x = {Pick(random, 1, 3), Pick(random, 1, 4), Pick(random, 1, 9), Pick(random, 1, 9)};
  const int64_t boxes = Pick(random, 0, 4);
  p.inputs = {
      RandomView(random, dtype, x, Chance(random, 20)),
      RandomView(random, plain ? DType::kF32 : kFloats[Pick(random, 0, 1)], {boxes, 4}, false),
      RandomView(random, Chance(random, 50) ? DType::kI64 : DType::kI32, {boxes}, false)};
  p.core_inputs = 3;
  p.outputs = {
      RandomView(random, dtype, {boxes, x[1], Pick(random, 1, 4), Pick(random, 1, 4)}, false)};
  return step;
}

/// Corners in quarters, some boxes turned inside out or outside of the map; batches from -1 on.
void FillBoxes(Random& random, TestStep& step) {
  for (int64_t i = 0; i < step.input(1).elements(); ++i) {
    step.input(1).Set(i, static_cast<double>(Pick(random, -12, 60)) / 4);
  }
  for (int64_t i = 0; i < step.input(2).elements(); ++i) {
    step.input(2).Set(i, static_cast<double>(Pick(random, -1, step.problem.inputs[0].shape[0])));
  }
}

/// Interpolated corners of x at (y, x): up to four weighted values; none outside.
std::vector<double> Corners(TestStep& step, int64_t n, int64_t c, double y, double x) {
  const Dims& shape = step.problem.inputs[0].shape;
  const auto height = static_cast<double>(shape[2]), width = static_cast<double>(shape[3]);
  if (y < -1 || y > height || x < -1 || x > width) return {0, 0, 0, 0};
  y = std::clamp(y, 0.0, height - 1);
  x = std::clamp(x, 0.0, width - 1);
  const double y0 = std::floor(y), x0 = std::floor(x);
  const double y1 = std::min(y0 + 1, height - 1), x1 = std::min(x0 + 1, width - 1);
  const auto at = [&](double row, double column) {
    const int64_t from[kMaxRank] = {n, c, static_cast<int64_t>(row), static_cast<int64_t>(column)};
    return step.input(0).At(from);
  };
  return {(1 - (y - y0)) * (1 - (x - x0)) * at(y0, x0), (1 - (y - y0)) * (x - x0) * at(y0, x1),
          (y - y0) * (1 - (x - x0)) * at(y1, x0), (y - y0) * (x - x0) * at(y1, x1)};
}

double Aligned(TestStep& step, const int64_t* out, int64_t n, const double* box) {
  const auto& a = step.problem.as<abi::RoiAttrs>();
  const Dims& y = step.problem.outputs[0].shape;
  const double shift = a.half_pixel ? 0.5 : 0;
  double start[2], bin[2];
  int64_t samples[2];
  for (int d = 0; d < 2; ++d) {  // 0: rows
    start[d] = box[1 - d] * a.spatial_scale - shift;
    double length = box[3 - d] * a.spatial_scale - shift - start[d];
    if (!a.half_pixel) length = std::max(length, 1.0);
    bin[d] = length / static_cast<double>(y[d + 2]);
    samples[d] = a.sampling_ratio > 0
                     ? a.sampling_ratio
                     : std::max<int64_t>(0, static_cast<int64_t>(std::ceil(bin[d])));
  }
  double sum = 0, largest = -INFINITY;
  for (int64_t i = 0; i < samples[0]; ++i) {
    for (int64_t j = 0; j < samples[1]; ++j) {
      const auto middle = [](int64_t k, int64_t of) {
        return (static_cast<double>(k) + 0.5) / static_cast<double>(of);
      };
      const double row = start[0] + (static_cast<double>(out[2]) + middle(i, samples[0])) * bin[0];
      const double column =
          start[1] + (static_cast<double>(out[3]) + middle(j, samples[1])) * bin[1];
      for (double v : Corners(step, n, out[1], row, column)) {
        sum += v;
        largest = std::max(largest, v);
      }
    }
  }
  const auto count = static_cast<double>(samples[0] * samples[1]);
  if (count == 0) return 0;
  return a.kind == RoiKind::kAlignMax ? largest : sum / count;
}

double Pooled(TestStep& step, const int64_t* out, int64_t n, const double* box) {
  const auto& a = step.problem.as<abi::RoiAttrs>();
  const Dims &x = step.problem.inputs[0].shape, &y = step.problem.outputs[0].shape;
  double begin[2], end[2];
  for (int d = 0; d < 2; ++d) {
    const double start = std::round(box[1 - d] * a.spatial_scale);
    const double length = std::max(std::round(box[3 - d] * a.spatial_scale) - start + 1, 1.0);
    const auto bins = static_cast<double>(y[d + 2]), bin = static_cast<double>(out[d + 2]);
    const auto extent = static_cast<double>(x[d + 2]);
    begin[d] = std::clamp(std::floor(bin * length / bins) + start, 0.0, extent);
    end[d] = std::clamp(std::ceil((bin + 1) * length / bins) + start, 0.0, extent);
  }
  double largest = -INFINITY;
  for (double row = begin[0]; row < end[0]; ++row) {
    for (double column = begin[1]; column < end[1]; ++column) {
      const int64_t from[kMaxRank] = {n, out[1], static_cast<int64_t>(row),
                                      static_cast<int64_t>(column)};
      largest = std::max(largest, step.input(0).At(from));
    }
  }
  return std::isinf(largest) ? 0 : largest;
}

/// A bin's edge that division brings to within rounding of a whole number may fall on either side.
bool OnAnEdge(const TestStep& step, const double* box) {
  const auto& a = step.problem.as<abi::RoiAttrs>();
  const Dims& y = step.problem.outputs[0].shape;
  for (int d = 0; d < 2; ++d) {
    if (y[d + 2] != 3) continue;
    const double length = (box[3 - d] - box[1 - d]) * a.spatial_scale;
    if (a.kind == RoiKind::kPoolMax || std::fmod(length, 3) == 0 || a.sampling_ratio == 3)
      return true;
  }
  return a.sampling_ratio == 3;
}

TEST(Roi, VariantsMatchTheReferenceAndTheDefinition) {
  Random random(51);
  int ran = 0, checked = 0;
  for (int i = 0; i < 600 && !HasFailure(); ++i) {
    TestStep step = RandomRoiStep(random, i % 2 == 0);
    step.Prepare(random);
    if (HasFatalFailure()) return;
    FillBoxes(random, step);
    ran += CompareVariants(step, 1e-5, 1e-5);
    const abi::Problem& p = step.problem;
    const std::vector<TestBuffer> out = RunVariant(CpuVariants(p.family).back(), step);
    ForEachIndex(p.outputs[0].shape, [&](const int64_t* at) {
      double box[4];
      for (int64_t k = 0; k < 4; ++k) {
        const int64_t corner[kMaxRank] = {at[0], k};
        box[k] = step.input(1).At(corner);
      }
      if (OnAnEdge(step, box)) return;
      ++checked;
      const auto n = static_cast<int64_t>(step.input(2).At(at));
      double want = 0;
      if (n >= 0 && n < p.inputs[0].shape[0]) {
        const bool pools = p.as<abi::RoiAttrs>().kind == RoiKind::kPoolMax;
        want = pools ? Pooled(step, at, n, box) : Aligned(step, at, n, box);
      }
      const double tolerance = p.inputs[0].dtype == DType::kF16 ? 2e-3 : 1e-4;
      ASSERT_NEAR(out[0].At(at), want, tolerance * (1 + std::fabs(want)))
          << abi::ToString(p) << "\nbox " << box[0] << " " << box[1] << " " << box[2] << " "
          << box[3] << " bin " << at[2] << " " << at[3];
    });
  }
  EXPECT_GE(ran, 250);
  EXPECT_GE(checked, 2000);
}

// A box without end, or that is no number, ends.
TEST(Roi, WildBoxesEnd) {
  Random random(52);
  for (int i = 0; i < 20; ++i) {
    TestStep step = RandomRoiStep(random, true);
    step.Prepare(random);
    FillBoxes(random, step);
    const double wild[] = {NAN, INFINITY, -INFINITY, 1e30};
    for (int64_t k = 0; k < step.input(1).elements(); ++k) {
      if (Chance(random, 30)) step.input(1).Set(k, wild[Pick(random, 0, 3)]);
    }
    CompareVariants(step, 1e-4, 1e-4);
  }
}

}  // namespace
}  // namespace aicf::cpu
