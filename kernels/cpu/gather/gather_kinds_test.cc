// kElements and kPoints against plain loops.
#include <gtest/gtest.h>

#include "kernels/cpu/common/test_indices.h"

namespace aicf::cpu {
namespace {

TestStep ElementsStep(Random& random) {
  TestStep step;
  abi::Problem& p = step.problem;
  p.family = abi::Family::kGather;
  const DType dtype = static_cast<DType>(Pick(random, 0, kDTypeCount - 1));
  const int rank = static_cast<int>(Pick(random, 1, 4));
  const Dims data = RandomShape(random, rank, 9);
  const int axis = static_cast<int>(Pick(random, 0, rank - 1));
  Dims index = data;
  for (int d = 0; d < rank; ++d)
    index[d] = d == axis ? Pick(random, 0, 12) : Pick(random, 0, data[d]);
  p.attrs = abi::GatherAttrs{axis, abi::GatherKind::kElements, 0};
  p.inputs = {RandomView(random, dtype, data, Chance(random, 20)),
              RandomView(random, RandomIndexType(random), index, true)};
  p.core_inputs = 2;
  p.outputs = {RandomView(random, dtype, index, false)};
  return step;
}

TestStep PointsStep(Random& random) {
  TestStep step;
  abi::Problem& p = step.problem;
  p.family = abi::Family::kGather;
  const DType dtype = static_cast<DType>(Pick(random, 0, kDTypeCount - 1));
  const int rank = static_cast<int>(Pick(random, 1, 5));
  const Dims data = RandomShape(random, rank, 7);
  const int64_t batch = Pick(random, 0, rank - 1);
  const int64_t n = Pick(random, 0, rank - batch);
  Dims index, out;
  for (int d = 0; d < batch; ++d) index.push_back(data[d]);
  for (int64_t k = Pick(random, 0, 2); k > 0; --k) index.push_back(Pick(random, 0, 6));
  out = index;
  index.push_back(n);
  for (int d = static_cast<int>(batch + n); d < rank; ++d) out.push_back(data[d]);
  p.attrs = abi::GatherAttrs{0, abi::GatherKind::kPoints, batch};
  p.inputs = {RandomView(random, dtype, data, Chance(random, 20)),
              RandomView(random, RandomIndexType(random), index, true)};
  p.core_inputs = 2;
  p.outputs = {RandomView(random, dtype, out, false)};
  return step;
}

/// What an index out of range reads: the number whose bits are zero.
double Nothing(DType dtype) { return dtype == DType::kF8E8M0 ? 0x1p-127 : 0; }

TEST(GatherElements, VariantsMatchTheReferenceAndTheDefinition) {
  Random random(11);
  int ran = 0;
  for (int i = 0; i < 600 && !HasFailure(); ++i) {
    TestStep step = ElementsStep(random);
    step.Prepare(random);
    if (HasFatalFailure()) return;
    FillIndices(random, step);
    ran += CompareVariants(step, 0, 0);
    const abi::Problem& p = step.problem;
    const int axis = static_cast<int>(p.as<abi::GatherAttrs>().axis);
    const int64_t extent = p.inputs[0].shape[axis];
    const std::vector<TestBuffer> out = RunVariant(CpuVariants(p.family).back(), step);
    ForEachIndex(p.outputs[0].shape, [&](const int64_t* at) {
      auto index = static_cast<int64_t>(step.input(1).At(at));
      if (index < 0) index += extent;
      int64_t from[kMaxRank];
      std::copy(at, at + kMaxRank, from);
      from[axis] = index;
      const bool inside = index >= 0 && index < extent;
      const double want = inside ? step.input(0).At(from) : Nothing(p.inputs[0].dtype);
      const double got = out[0].At(at);
      ASSERT_TRUE(got == want || (std::isnan(got) && std::isnan(want))) << abi::ToString(p);
    });
  }
  EXPECT_GE(ran, 200);
}

TEST(GatherPoints, VariantsMatchTheReferenceAndTheDefinition) {
  Random random(12);
  int ran = 0;
  for (int i = 0; i < 600 && !HasFailure(); ++i) {
    TestStep step = PointsStep(random);
    step.Prepare(random);
    if (HasFatalFailure()) return;
    FillIndices(random, step);
    ran += CompareVariants(step, 0, 0);
    const abi::Problem& p = step.problem;
    const Dims &data = p.inputs[0].shape, &index = p.inputs[1].shape;
    const auto batch = static_cast<int>(p.as<abi::GatherAttrs>().batch_axes);
    const int leading = index.rank() - 1, n = static_cast<int>(index.back());
    const std::vector<TestBuffer> out = RunVariant(CpuVariants(p.family).back(), step);
    ForEachIndex(p.outputs[0].shape, [&](const int64_t* at) {
      int64_t where[kMaxRank] = {}, from[kMaxRank] = {};
      bool inside = true;
      for (int d = 0; d < leading; ++d) where[d] = at[d];
      for (int d = 0; d < batch; ++d) from[d] = at[d];
      for (int k = 0; k < n; ++k) {
        where[leading] = k;
        from[batch + k] = static_cast<int64_t>(step.input(1).At(where));
        if (from[batch + k] < 0) from[batch + k] += data[batch + k];
        inside = inside && from[batch + k] >= 0 && from[batch + k] < data[batch + k];
      }
      for (int d = batch + n; d < data.rank(); ++d) from[d] = at[leading + d - batch - n];
      const double want = inside ? step.input(0).At(from) : Nothing(p.inputs[0].dtype);
      const double got = out[0].At(at);
      ASSERT_TRUE(got == want || (std::isnan(got) && std::isnan(want))) << abi::ToString(p);
    });
  }
  EXPECT_GE(ran, 150);
}

// A value that no number has must arrive with all its bits.
TEST(GatherElements, MovesBitsNotNumbers) {
  TestStep step;
  abi::Problem& p = step.problem;
  p.family = abi::Family::kGather;
  p.attrs = abi::GatherAttrs{0, abi::GatherKind::kElements, 0};
  p.inputs = {abi::DenseView(DType::kF8E5M2, {4}), abi::DenseView(DType::kI64, {2})};
  p.core_inputs = 2;
  p.outputs = {abi::DenseView(DType::kF8E5M2, {2})};
  Random random(1);
  step.Prepare(random);
  step.input(0).bytes[3] = 0xfd;  // a negative NaN
  step.input(1).Set(0, 3);
  step.input(1).Set(1, -1);
  for (const abi::KernelInfo& info : CpuVariants(p.family)) {
    if (!info.supports(p, HostDevice()).empty()) continue;
    const std::vector<TestBuffer> out = RunVariant(info, step);
    EXPECT_EQ(out[0].bytes[0], 0xfd) << info.key;
    EXPECT_EQ(out[0].bytes[1], 0xfd) << info.key;
  }
}

}  // namespace
}  // namespace aicf::cpu
