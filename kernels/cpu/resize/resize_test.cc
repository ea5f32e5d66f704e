#include <gtest/gtest.h>

#include "kernels/cpu/common/test_step.h"
#include "kernels/cpu/resize/coordinates.h"

namespace aicf::cpu {
namespace {

using abi::CoordinateMode;
using abi::NearestMode;
using abi::ResizeAttrs;
using abi::ResizeMode;

abi::View ChannelsLast(DType dtype, const Dims& shape) {
  abi::View view = abi::DenseView(dtype, shape);
  int64_t stride = shape[1];
  view.strides[1] = 1;
  for (int axis = shape.rank() - 1; axis >= 2; --axis) {
    view.strides[axis] = stride;
    stride *= shape[axis];
  }
  view.strides[0] = stride;
  return view;
}

TestStep RandomResizeStep(Random& random) {
  TestStep step;
  abi::Problem& p = step.problem;
  p.family = abi::Family::kResize;
  ResizeAttrs a;
  a.mode = Chance(random, 45)   ? ResizeMode::kNearest
           : Chance(random, 65) ? ResizeMode::kLinear
                                : ResizeMode::kCubic;
  a.coordinates = static_cast<CoordinateMode>(Pick(random, 0, 5));
  a.nearest = static_cast<NearestMode>(Pick(random, 0, 3));
  a.exclude_outside = Chance(random, 30);
  const int rank = static_cast<int>(Pick(random, 1, 5));
  const Dims x = RandomShape(random, rank,
                             rank == 1   ? 2000
                             : rank == 2 ? 30
                             : rank == 3 ? 14
                                         : 6,
                             false);
  Dims y = x;
  for (int axis = 0; axis < rank; ++axis) {
    double scale = 1;
    if (Chance(random, 55)) {
      scale = Chance(random, 50) ? static_cast<double>(Pick(random, 1, 3))
                                 : static_cast<double>(Pick(random, 3, 30)) / 10;
      y[axis] = std::max<int64_t>(1, static_cast<int64_t>(scale * static_cast<double>(x[axis])));
    }
    a.scales.push_back(static_cast<double>(static_cast<float>(scale)));
  }
  p.attrs = a;
  const DType dtype = Chance(random, 70)   ? DType::kF32
                      : Chance(random, 50) ? DType::kF16
                                           : DType::kU8;
  p.inputs.push_back(RandomView(random, dtype, x, Chance(random, 10)));
  p.core_inputs = 1;
  p.outputs.push_back(RandomView(random, dtype, y, false));
  if (rank >= 3 && Chance(random, 50)) {
    p.inputs[0] = ChannelsLast(dtype, x);
    p.outputs[0] = ChannelsLast(dtype, y);
  }
  if (IsFloat(dtype) && Chance(random, 40)) {
    p.inputs.push_back(RandomView(random, DType::kF32, y, true));
    abi::ExprBuilder b;
    p.epilogue =
        b.Finish({b.Binary(abi::ExprOp::kAdd, b.Input(0, DType::kF32), b.Input(1, DType::kF32))});
  }
  return step;
}

TEST(Resize, VariantsMatchTheReference) {
  Random random(1);
  int ran = 0;
  for (int i = 0; i < 600 && !HasFailure(); ++i) {
    TestStep step = RandomResizeStep(random);
    step.Prepare(random);
    if (HasFatalFailure()) return;
    const double tolerance = step.problem.outputs[0].dtype == DType::kF16 ? 0x1p-9 : 4e-6;
    ran += CompareVariants(step, tolerance, tolerance);
    // Scale 1.5 and the like put samples exactly on elements: their neighbours must not matter.
    if (step.problem.outputs[0].dtype != DType::kF32) continue;
    for (int64_t at = 3; at < step.input(0).elements(); at += 7) step.input(0).Set(at, INFINITY);
    CompareVariants(step, tolerance, tolerance);
  }
  EXPECT_GE(ran, 600);
}

// Whatever a coordinate is, the elements that are read exist.
TEST(Resize, WildScalesStayInside) {
  for (double scale : std::vector<double>{NAN, INFINITY, -INFINITY, 0, 5e-324, 1e-300, 1e300, -3,
                                          0x1p-40, 0x1p40}) {
    for (int mode = 0; mode < 3; ++mode) {
      for (int coordinates = 0; coordinates < 6; ++coordinates) {
        for (int nearest = 0; nearest < 4; ++nearest) {
          ResizeAttrs a;
          a.mode = static_cast<ResizeMode>(mode);
          a.coordinates = static_cast<CoordinateMode>(coordinates);
          a.nearest = static_cast<NearestMode>(nearest);
          a.scales = {scale};
          for (int64_t o : {int64_t{0}, int64_t{1}, int64_t{1} << 40}) {
            const AxisTaps taps = TapsOf(a, 0, 7, (int64_t{1} << 40) + 1, o);
            for (int t = 0; t < taps.count; ++t) {
              EXPECT_TRUE(taps.index[t] >= 0 && taps.index[t] < 7) << scale << " " << taps.index[t];
            }
          }
        }
      }
    }
  }
}

double AtOrEdge(const std::vector<double>& x, int64_t i) {
  return x[static_cast<size_t>(std::clamp<int64_t>(i, 0, static_cast<int64_t>(x.size()) - 1))];
}

// Linear along one axis against the definition: a line through the two neighbours, flat at the
// ends.
TEST(Resize, LinearMatchesTheDefinition) {
  Random random(2);
  for (int i = 0; i < 120; ++i) {
    const int64_t in = Pick(random, 1, 40);
    const int64_t out = Pick(random, 2, 90);
    TestStep step;
    abi::Problem& p = step.problem;
    p.family = abi::Family::kResize;
    ResizeAttrs a;
    a.mode = ResizeMode::kLinear;
    a.coordinates = Chance(random, 50) ? CoordinateMode::kHalfPixel : CoordinateMode::kAlignCorners;
    const double ratio = static_cast<double>(out) / static_cast<double>(in);
    a.scales = {static_cast<double>(static_cast<float>(ratio))};
    p.attrs = a;
    p.inputs = {abi::DenseView(DType::kF32, {in})};
    p.outputs = {abi::DenseView(DType::kF32, {out})};
    p.core_inputs = 1;
    step.Prepare(random);
    if (HasFatalFailure()) return;
    std::vector<double> x;
    for (int64_t k = 0; k < in; ++k) x.push_back(step.input(0).At(k));
    for (const abi::KernelInfo& info : CpuVariants(p.family)) {
      if (!info.supports(p, HostDevice()).empty()) continue;
      const std::vector<TestBuffer> got = RunVariant(info, step);
      for (int64_t o = 0; o < out; ++o) {
        const auto position = static_cast<double>(o);
        const double source =
            a.coordinates == CoordinateMode::kHalfPixel
                ? (position + 0.5) / ratio - 0.5
                : position * static_cast<double>(in - 1) / static_cast<double>(out - 1);
        const double base = std::floor(source);
        const auto k = static_cast<int64_t>(base);
        const double y = AtOrEdge(x, k) + (source - base) * (AtOrEdge(x, k + 1) - AtOrEdge(x, k));
        ASSERT_NEAR(got[0].At(o), y, 1e-4) << info.key << " " << abi::ToString(p);
      }
    }
  }
}

double CubicAt(const std::vector<double>& x, double source) {
  constexpr double kA = -0.75;
  const double base = std::floor(source);
  double sum = 0;
  for (int t = -1; t <= 2; ++t) {
    const double d = std::fabs(source - base - t);
    const double weight = d <= 1 ? ((kA + 2) * d - (kA + 3)) * d * d + 1
                                 : ((kA * d - 5 * kA) * d + 8 * kA) * d - 4 * kA;
    sum += weight * AtOrEdge(x, static_cast<int64_t>(base) + t);
  }
  return sum;
}

// With scales the last coordinate of the map is scale * in - 1, whether or not that is an element.
TEST(Resize, AlignCornersUsesTheUnroundedLength) {
  Random random(4);
  for (int i = 0; i < 200; ++i) {
    const int64_t in = Pick(random, 2, 300);
    const int64_t hundredths = Pick(random, 40, 250);
    const float scale = static_cast<float>(hundredths) / 100;
    const int64_t out = hundredths * in / 100;
    if (out < 2) continue;
    const double length = hundredths * in % 100 == 0
                              ? static_cast<double>(out)
                              : static_cast<double>(scale) * static_cast<double>(in);
    TestStep step;
    abi::Problem& p = step.problem;
    p.family = abi::Family::kResize;
    ResizeAttrs a;
    a.mode = ResizeMode::kCubic;
    a.coordinates = CoordinateMode::kAlignCorners;
    a.scales = {static_cast<double>(scale)};
    p.attrs = a;
    p.inputs = {abi::DenseView(DType::kF32, {in})};
    p.outputs = {abi::DenseView(DType::kF32, {out})};
    p.core_inputs = 1;
    step.Prepare(random);
    if (HasFatalFailure()) return;
    std::vector<double> x;
    double largest = 0;
    for (int64_t k = 0; k < in; ++k) {
      x.push_back(step.input(0).At(k));
      largest = std::max(largest, std::fabs(x.back()));
    }
    for (const abi::KernelInfo& info : CpuVariants(p.family)) {
      if (!info.supports(p, HostDevice()).empty()) continue;
      const std::vector<TestBuffer> got = RunVariant(info, step);
      for (int64_t o = 0; o < out; ++o) {
        const double source = static_cast<double>(o) * static_cast<double>(in - 1) / (length - 1);
        ASSERT_NEAR(got[0].At(o), CubicAt(x, source), 1e-6 * std::max(1.0, largest))
            << info.key << " " << abi::ToString(p);
      }
    }
  }
}

// ONNX's test_resize_downsample_scales_cubic_align_corners along one axis: 4 * 0.8 = 3.2.
TEST(Resize, AlignCornersOfTheStandardsExample) {
  ResizeAttrs a;
  a.mode = ResizeMode::kCubic;
  a.coordinates = CoordinateMode::kAlignCorners;
  a.scales = {static_cast<double>(0.8f)};
  const std::vector<double> x = {1, 2, 3, 4};
  for (int64_t o = 0; o < 3; ++o) {
    const AxisTaps taps = TapsOf(a, 0, 4, 3, o);
    double sum = 0;
    for (int t = 0; t < taps.count; ++t) sum += taps.weight[t] * x[taps.index[t]];
    EXPECT_NEAR(sum, CubicAt(x, static_cast<double>(o) * 3 / 2.2), 1e-6);
  }
}

TEST(Resize, ResizedLengthForgetsTheScalesOwnRounding) {
  for (int64_t in = 1; in <= 64; ++in) {
    for (int64_t out = 1; out <= 64; ++out) {
      const auto scale = static_cast<float>(out) / static_cast<float>(in);
      EXPECT_EQ(ResizedLength(static_cast<double>(scale), in, out), static_cast<double>(out));
    }
  }
  EXPECT_NEAR(ResizedLength(0.8, 4, 3), 3.2, 1e-12);
}

TEST(Resize, NearestRoundings) {
  const auto pick = [](NearestMode nearest, int64_t o) {
    ResizeAttrs a;
    a.mode = ResizeMode::kNearest;
    a.coordinates = CoordinateMode::kHalfPixel;  // source (o + 0.5) / 0.5 - 0.5 = 2 o + 0.5
    a.nearest = nearest;
    a.scales = {0.5};
    return TapsOf(a, 0, 8, 4, o).index[0];
  };
  EXPECT_EQ(pick(NearestMode::kRoundPreferFloor, 1), 2);
  EXPECT_EQ(pick(NearestMode::kRoundPreferCeil, 1), 3);
  EXPECT_EQ(pick(NearestMode::kFloor, 1), 2);
  EXPECT_EQ(pick(NearestMode::kCeil, 1), 3);
}

TEST(Resize, CubicWeightsSumToOneAndKeepSamples) {
  for (bool exclude : {false, true}) {
    ResizeAttrs a;
    a.mode = ResizeMode::kCubic;
    a.exclude_outside = exclude;
    a.scales = {2.0};
    for (int64_t o = 0; o < 20; ++o) {
      const AxisTaps taps = TapsOf(a, 0, 10, 20, o);
      EXPECT_NEAR(std::accumulate(taps.weight, taps.weight + 4, 0.0), 1, 1e-12);
    }
    a.coordinates = CoordinateMode::kAsymmetric;
    const AxisTaps exact = TapsOf(a, 0, 10, 20, 8);  // source 4
    EXPECT_EQ(exact.index[1], 4);
    EXPECT_EQ(exact.weight[1], 1);
  }
}

}  // namespace
}  // namespace aicf::cpu
