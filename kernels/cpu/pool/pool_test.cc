#include <gtest/gtest.h>

#include "kernels/cpu/common/test_step.h"

namespace aicf::cpu {
namespace {

using abi::PoolKind;

/// A dense view with the channels innermost, or in random order.
abi::View SpatialView(Random& random, DType dtype, const Dims& shape) {
  if (Chance(random, 35)) return RandomView(random, dtype, shape, false);
  abi::View view = abi::DenseView(dtype, shape);
  if (Chance(random, 35)) return view;
  int64_t stride = shape[1];
  view.strides[1] = 1;
  for (int axis = shape.rank() - 1; axis >= 2; --axis) {
    view.strides[axis] = stride;
    stride *= shape[axis];
  }
  view.strides[0] = stride;
  return view;
}

TestStep RandomPoolStep(Random& random) {
  TestStep step;
  abi::Problem& p = step.problem;
  p.family = abi::Family::kPool;
  abi::PoolAttrs a;
  a.kind = Chance(random, 45)   ? PoolKind::kMax
           : Chance(random, 85) ? PoolKind::kAverage
                                : PoolKind::kLp;
  a.count_include_pad = Chance(random, 50);
  a.p = Pick(random, 1, 3);
  const int spatial = static_cast<int>(Pick(random, 1, 3));
  Dims x = {Pick(random, 1, 2), Chance(random, 30) ? Pick(random, 60, 150) : Pick(random, 1, 20)};
  Dims y = x;
  for (int s = 0; s < spatial; ++s) {
    const int64_t extent = Pick(random, 1, spatial == 1 ? 400 : spatial == 2 ? 20 : 8);
    a.kernel.push_back(Pick(random, 1, std::min<int64_t>(extent, 5)));
    a.strides.push_back(Pick(random, 1, 3));
    a.dilations.push_back(Pick(random, 1, 2));
    const int64_t reach = (a.kernel[s] - 1) * a.dilations[s] + 1;
    a.pads_begin.push_back(Pick(random, 0, reach - 1));
    a.pads_end.push_back(Pick(random, 0, reach - 1));
    const int64_t padded = extent + a.pads_begin[s] + a.pads_end[s];
    int64_t out = padded >= reach ? (padded - reach) / a.strides[s] + 1 : 0;
    // Ceil mode: one more window, where it starts inside the input or the padding before it.
    if (out * a.strides[s] < extent + a.pads_begin[s] && Chance(random, 50)) ++out;
    x.push_back(extent);
    y.push_back(out);
  }
  const bool bytes = a.kind == PoolKind::kMax && Chance(random, 35);
  const DType dtype = bytes ? (Chance(random, 50) ? DType::kI8 : DType::kU8)
                      : Chance(random, 70) || a.kind == PoolKind::kLp ? DType::kF32
                      : Chance(random, 70) ? (Chance(random, 50) ? DType::kF16 : DType::kBF16)
                                           : DType::kI32;
  p.inputs.push_back(SpatialView(random, dtype, x));
  p.core_inputs = 1;
  p.outputs.push_back(SpatialView(random, dtype, y));
  p.attrs = a;
  if (IsFloat(dtype) && Chance(random, 40)) {
    p.inputs.push_back(RandomView(random, DType::kF32, y, true));
    abi::ExprBuilder b;
    p.epilogue =
        b.Finish({b.Binary(abi::ExprOp::kAdd, b.Input(0, DType::kF32), b.Input(1, DType::kF32))});
  }
  if (bytes && Chance(random, 40)) {
    abi::ExprBuilder b;
    const uint16_t x_value = b.Cast(b.Input(0, dtype), DType::kF32);
    p.epilogue = b.Finish({b.Binary(abi::ExprOp::kMul, x_value, b.Const(0.5, DType::kF32))});
    p.outputs[0].dtype = DType::kF32;
  }
  return step;
}

/// One output from the definition, in double.
double ExpectedPool(const TestStep& step, const int64_t* at) {
  const auto& a = step.problem.as<abi::PoolAttrs>();
  const Dims& in = step.problem.inputs[0].shape;
  double best = -INFINITY, sum = 0;
  int64_t inside = 0, padded = 0;
  ForEachIndex(a.kernel, [&](const int64_t* t) {
    int64_t coords[kMaxRank] = {at[0], at[1]};
    bool in_x = true, in_padding = true;
    for (int s = 0; s < a.kernel.rank(); ++s) {
      const int64_t q = at[s + 2] * a.strides[s] + t[s] * a.dilations[s];
      in_x = in_x && q >= a.pads_begin[s] && q < a.pads_begin[s] + in[s + 2];
      in_padding = in_padding && q < a.pads_begin[s] + in[s + 2] + a.pads_end[s];
      coords[s + 2] = q - a.pads_begin[s];
    }
    padded += in_padding;
    if (!in_x) return;
    ++inside;
    const double v = step.buffers[0].At(coords);
    best = std::max(best, v);
    sum += a.kind == PoolKind::kLp ? std::pow(std::fabs(v), static_cast<double>(a.p)) : v;
  });
  double raw = sum / static_cast<double>(a.count_include_pad ? padded : inside);
  if (a.kind == PoolKind::kMax) raw = best;
  if (a.kind == PoolKind::kLp) raw = std::pow(sum, 1.0 / static_cast<double>(a.p));
  if (step.problem.epilogue.empty()) return raw;
  return step.problem.inputs.size() > 1 ? raw + step.buffers[1].At(at) : raw * 0.5;
}

/// One channel of 5 x 5 under a window far larger than that, padded to hold it, or with taps so far
/// apart that none meets the input.
TestStep WidePoolStep(PoolKind kind, DType dtype, int64_t kernel, int64_t dilation, int64_t pad) {
  TestStep step;
  abi::Problem& p = step.problem;
  p.family = abi::Family::kPool;
  p.attrs = abi::PoolAttrs{kind,       {kernel, kernel}, {1, 1}, {dilation, dilation},
                           {pad, pad}, {pad, pad},       true};
  p.inputs = {abi::DenseView(dtype, {1, 1, 5, 5})};
  p.core_inputs = 1;
  p.outputs = {abi::DenseView(dtype, {1, 1, 2, 2})};
  return step;
}

// What a window holds of the padding is counted, never walked: 2^30 taps take no time.
TEST(Pool, WindowsLargerThanTheInputCostTheInput) {
  Random random(7);
  for (PoolKind kind : {PoolKind::kMax, PoolKind::kAverage, PoolKind::kLp}) {
    TestStep step = WidePoolStep(kind, DType::kF32, 1 << 15, 1, 1 << 14);
    step.Prepare(random);
    const std::vector<TestBuffer> out = RunVariant(CpuVariants(step.problem.family).back(), step);
    double sum = 0, best = -INFINITY, squares = 0;
    for (int64_t i = 0; i < 25; ++i) {
      const double v = step.input(0).At(i);
      sum += v, squares += v * v, best = std::max(best, v);
    }
    // Every window holds all of x.
    const double mean = sum / (32768.0 * 32768.0);
    const double want = kind == PoolKind::kMax  ? best
                        : kind == PoolKind::kLp ? std::sqrt(squares)
                                                : mean;
    const int64_t last[kMaxRank] = {0, 0, 1, 1};
    EXPECT_NEAR(out[0].At(last), want, 1e-5 * std::fabs(want)) << static_cast<int>(kind);
    CompareVariants(step, 1e-5, 1e-5);
  }
}

TEST(Pool, AWindowWithoutAnElementHasTheLeastValue) {
  Random random(8);
  for (DType dtype : {DType::kI8, DType::kU8, DType::kF32, DType::kI32}) {
    for (bool channels_last : {false, true}) {
      TestStep step = WidePoolStep(PoolKind::kMax, dtype, 2, 10, 3);
      step.problem.outputs = {abi::DenseView(dtype, {1, 1, 2, 2})};
      if (channels_last) step.problem.inputs[0].strides = {50, 1, 10, 2};
      step.Prepare(random);
      CompareVariants(step, 0, 0);
      const std::vector<TestBuffer> out = RunVariant(CpuVariants(step.problem.family).back(), step);
      const double least = dtype == DType::kI8    ? -128
                           : dtype == DType::kU8  ? 0
                           : dtype == DType::kF32 ? -INFINITY
                                                  : -0x1p31;
      for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(out[0].At(i), least) << DTypeName(dtype);
    }
  }
}

TEST(Pool, VariantsMatchTheReferenceAndTheFormula) {
  Random random(1);
  int ran = 0;
  for (int i = 0; i < 700 && !HasFailure(); ++i) {
    TestStep step = RandomPoolStep(random);
    step.Prepare(random);
    if (HasFatalFailure()) return;
    const DType dtype = step.problem.outputs[0].dtype;
    const double tolerance = dtype == DType::kBF16 ? 0x1p-7 : dtype == DType::kF16 ? 0x1p-10 : 2e-6;
    ran += CompareVariants(step, tolerance, tolerance);
    if (dtype == DType::kI32) continue;
    const std::vector<TestBuffer> out = RunVariant(CpuVariants(abi::Family::kPool).back(), step);
    ForEachIndex(step.problem.outputs[0].shape, [&](const int64_t* at) {
      const double exact = ExpectedPool(step, at);
      const double got = out[0].At(at);
      const bool near = got == exact || (std::isnan(got) && std::isnan(exact)) ||
                        std::fabs(got - exact) <= tolerance * (std::fabs(exact) + 1);
      ASSERT_TRUE(near) << got << " for " << exact << "\n" << abi::ToString(step.problem);
    });
  }
  EXPECT_GE(ran, 500);
}

TEST(Pool, NanWinsTheMaximum) {
  Random random(2);
  for (bool channels_last : {false, true}) {
    TestStep step;
    abi::Problem& p = step.problem;
    p.family = abi::Family::kPool;
    p.attrs = abi::PoolAttrs{PoolKind::kMax, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, false, 2};
    abi::View view = abi::DenseView(DType::kF32, {1, 20, 9, 9});
    if (channels_last) view.strides = {1620, 1, 180, 20};
    p.inputs = {view};
    p.outputs = {view};
    p.core_inputs = 1;
    step.Prepare(random);
    if (HasFatalFailure()) return;
    for (int64_t i = 0; i < 1620; i += 97) step.input(0).Set(i, NAN);
    EXPECT_GT(CompareVariants(step, 0, 0), 0);
  }
}

}  // namespace
}  // namespace aicf::cpu
