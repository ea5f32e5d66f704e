#include <gtest/gtest.h>

#include "kernels/cpu/common/test_step.h"

namespace aicf::cpu {
namespace {

TestStep RandomScanStep(Random& random) {
  TestStep step;
  abi::Problem& p = step.problem;
  p.family = abi::Family::kScan;
  constexpr DType kPlain[] = {DType::kF32, DType::kF64, DType::kI32, DType::kI64};
  const DType dtype =
      Chance(random, 50) ? kPlain[Pick(random, 0, 3)] : static_cast<DType>(Pick(random, 0, 11));
  const int rank = static_cast<int>(Pick(random, 1, 4));
  Dims shape = RandomShape(random, rank, 6);
  if (Chance(random, 30))
    shape[static_cast<int>(Pick(random, 0, rank - 1))] = Pick(random, 60, 140);
  abi::ScanAttrs a;
  a.kind = Chance(random, 50) ? abi::ScanKind::kSum : abi::ScanKind::kProd;
  a.axis = Pick(random, 0, rank - 1);
  a.exclusive = Chance(random, 50);
  a.reverse = Chance(random, 50);
  p.attrs = a;
  p.inputs = {RandomView(random, dtype, shape, Chance(random, 30))};
  p.core_inputs = 1;
  p.outputs = {RandomView(random, dtype, shape, false)};
  return step;
}

/// A product stays in range when its factors are 1 or -1 with a rare 2.
void KeepProductsSmall(Random& random, TestStep& step) {
  if (step.problem.as<abi::ScanAttrs>().kind != abi::ScanKind::kProd) return;
  TestBuffer& b = step.input(0);
  const bool is_unsigned = KindOf(b.view.dtype) == DTypeKind::kUnsigned;
  for (int64_t i = 0; i < b.elements(); ++i) {
    b.Set(i, Chance(random, IsFloat(b.view.dtype) ? 3 : 20) ? 2
             : is_unsigned || Chance(random, 50)            ? 1
                                                            : -1);
  }
}

/// `value` modulo the width of an integer dtype; sums are small and products powers of two: exact.
double Wrapped(double value, DType dtype) {
  if (IsFloat(dtype)) return value;
  const double range = std::ldexp(1.0, static_cast<int>(DTypeBytes(dtype)) * 8);
  const double rest = std::fmod(value, range);
  if (KindOf(dtype) == DTypeKind::kUnsigned) return rest < 0 ? rest + range : rest;
  return rest >= range / 2 ? rest - range : rest < -range / 2 ? rest + range : rest;
}

TEST(Scan, VariantsMatchTheReferenceAndTheDefinition) {
  Random random(31);
  int ran = 0;
  for (int i = 0; i < 800 && !HasFailure(); ++i) {
    TestStep step = RandomScanStep(random);
    step.Prepare(random);
    if (HasFatalFailure()) return;
    KeepProductsSmall(random, step);
    ran += CompareVariants(step, 1e-5, 1e-5);
    const abi::Problem& p = step.problem;
    const auto& a = p.as<abi::ScanAttrs>();
    const int axis = static_cast<int>(a.axis);
    const DType dtype = p.inputs[0].dtype;
    const std::vector<TestBuffer> out = RunVariant(CpuVariants(p.family).back(), step);
    ForEachIndex(p.outputs[0].shape, [&](const int64_t* at) {
      int64_t from[kMaxRank];
      std::copy(at, at + kMaxRank, from);
      double want = a.kind == abi::ScanKind::kProd ? 1 : 0;
      for (int64_t k = 0; k < p.inputs[0].shape[axis]; ++k) {
        const bool before = a.reverse ? k > at[axis] : k < at[axis];
        if (!before && (a.exclusive || k != at[axis])) continue;
        from[axis] = k;
        const double x = step.input(0).At(from);
        want = a.kind == abi::ScanKind::kProd ? want * x : want + x;
      }
      want = Wrapped(want, dtype);
      const double tolerance = dtype == DType::kBF16 ? 8e-3 : dtype == DType::kF16 ? 1e-3 : 1e-6;
      ASSERT_NEAR(out[0].At(at), want, tolerance * (1 + std::fabs(want))) << abi::ToString(p);
    });
  }
  EXPECT_GE(ran, 60);
}

TEST(Scan, RunsInPlace) {
  Random random(32);
  int ran = 0;
  for (int i = 0; i < 300 && !HasFailure(); ++i) {
    TestStep step = RandomScanStep(random);
    step.problem.inputs[0] = step.problem.outputs[0];
    step.Prepare(random);
    if (HasFatalFailure()) return;
    for (const abi::KernelInfo& info : CpuVariants(step.problem.family)) {
      if (!info.supports(step.problem, HostDevice()).empty()) continue;
      ASSERT_TRUE(info.in_place(step.problem, 0));
      ++ran;
      EXPECT_TRUE(SameInPlace(info, step, 0)) << abi::ToString(step.problem);
    }
  }
  EXPECT_GE(ran, 350);
}

}  // namespace
}  // namespace aicf::cpu
