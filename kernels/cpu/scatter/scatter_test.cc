#include <gtest/gtest.h>

#include "kernels/cpu/common/test_indices.h"

namespace aicf::cpu {
namespace {

using abi::ScatterKind;
using abi::ScatterReduction;

abi::ScatterAttrs RandomAttrs(Random& random, ScatterKind kind) {
  abi::ScatterAttrs a;
  a.kind = kind;
  a.reduction = static_cast<ScatterReduction>(Pick(random, 0, 4));
  return a;
}

DType DataType(Random& random, ScatterReduction reduction) {
  // Storage-only dtypes are moved; what a reduction of them rounds to is tested elsewhere.
  const int last =
      reduction == ScatterReduction::kNone ? kDTypeCount - 1 : static_cast<int>(DType::kBool);
  if (Chance(random, 40)) return Chance(random, 50) ? DType::kF32 : DType::kI64;
  return static_cast<DType>(Pick(random, 0, last));
}

void Finish(Random& random, abi::Problem& p, const Dims& data, const Dims& index,
            const Dims& updates) {
  const DType dtype = DataType(random, p.as<abi::ScatterAttrs>().reduction);
  p.inputs = {RandomView(random, dtype, data, Chance(random, 10)),
              RandomView(random, RandomIndexType(random), index, true),
              RandomView(random, dtype, updates, Chance(random, 20))};
  p.core_inputs = 3;
  p.outputs = {RandomView(random, dtype, data, false)};
}

TestStep RandomScatterStep(Random& random) {
  TestStep step;
  abi::Problem& p = step.problem;
  p.family = abi::Family::kScatter;
  const int rank = static_cast<int>(Pick(random, 1, 4));
  const Dims data = RandomShape(random, rank, 8);
  Dims index, updates;
  if (Chance(random, 50)) {
    abi::ScatterAttrs a = RandomAttrs(random, ScatterKind::kElements);
    a.axis = Pick(random, 0, rank - 1);
    for (int d = 0; d < rank; ++d) {
      index.push_back(d == a.axis ? Pick(random, 0, 9) : Pick(random, 0, data[d]));
    }
    p.attrs = a;
    updates = index;
  } else {
    p.attrs = RandomAttrs(random, ScatterKind::kPoints);
    const int64_t n = Pick(random, 0, rank);
    for (int64_t k = Pick(random, 0, 2); k > 0; --k) index.push_back(Pick(random, 0, 6));
    updates = index;
    index.push_back(n);
    for (int d = static_cast<int>(n); d < rank; ++d) updates.push_back(data[d]);
  }
  Finish(random, p, data, index, updates);
  return step;
}

double Combined(ScatterReduction reduction, double old, double update) {
  switch (reduction) {
    case ScatterReduction::kAdd:
      return old + update;
    case ScatterReduction::kMul:
      return old * update;
    case ScatterReduction::kMin:
      return std::min(old, update);
    case ScatterReduction::kMax:
      return std::max(old, update);
    default:
      return update;
  }
}

/// The definition, on the output's own buffer, so that every step is stored in the dtype.
TestBuffer ExpectedScatter(TestStep step) {
  const abi::Problem& p = step.problem;
  const auto& a = p.as<abi::ScatterAttrs>();
  TestBuffer out = step.output(0);
  const auto place = [&](const int64_t* at) {
    int64_t index = out.view.offset;
    for (int d = 0; d < out.view.shape.rank(); ++d) index += at[d] * out.view.strides[d];
    return index;
  };
  const Dims &data = p.inputs[0].shape, &indices = p.inputs[1].shape;
  ForEachIndex(data, [&](const int64_t* at) { out.Set(place(at), step.input(0).At(at)); });
  const int leading = indices.rank() - 1;
  ForEachIndex(p.inputs[2].shape, [&](const int64_t* position) {
    int64_t at[kMaxRank] = {}, where[kMaxRank] = {};
    const bool elements = a.kind == ScatterKind::kElements;
    const int n = elements ? 1 : static_cast<int>(indices.back());
    for (int d = 0; d < (elements ? indices.rank() : leading); ++d) where[d] = position[d];
    if (elements) {
      for (int d = 0; d < data.rank(); ++d) at[d] = position[d];
    } else {
      for (int d = n; d < data.rank(); ++d) at[d] = position[leading + d - n];
    }
    for (int k = 0; k < n; ++k) {
      if (!elements) where[leading] = k;
      const int axis = elements ? static_cast<int>(a.axis) : k;
      at[axis] = static_cast<int64_t>(step.input(1).At(where));
      if (at[axis] < 0) at[axis] += data[axis];
      if (at[axis] < 0 || at[axis] >= data[axis]) return;
    }
    out.Set(place(at), Combined(a.reduction, out.At(at), step.input(2).At(position)));
  });
  return out;
}

/// Products of many wide integers leave the range in which Set truncates as the dtype wraps.
void KeepIntegersSmall(Random& random, TestStep& step) {
  for (size_t k : {size_t{0}, size_t{2}}) {
    TestBuffer& b = step.input(k);
    const bool is_unsigned = KindOf(b.view.dtype) == DTypeKind::kUnsigned;
    for (int64_t i = 0; i < b.elements(); ++i) {
      if (!IsFloat(b.view.dtype) && b.view.dtype != DType::kBool) {
        b.Set(i, static_cast<double>(Pick(random, is_unsigned ? 0 : -1, 1)));
      }
    }
  }
}

TEST(Scatter, VariantsMatchTheReferenceAndTheDefinition) {
  Random random(21);
  int ran = 0;
  for (int i = 0; i < 1500 && !HasFailure(); ++i) {
    TestStep step = RandomScatterStep(random);
    step.Prepare(random);
    if (HasFatalFailure()) return;
    FillIndices(random, step);
    KeepIntegersSmall(random, step);
    ran += CompareVariants(step, 0, 0);
    const std::vector<TestBuffer> got = RunVariant(CpuVariants(step.problem.family).back(), step);
    // One rounding per update on both sides; a product of f32 formed in double rounds once more.
    ASSERT_TRUE(NearBuffers({ExpectedScatter(step)}, got, 1e-6, 1e-6))
        << abi::ToString(step.problem);
  }
  EXPECT_GE(ran, 200);
}

TEST(Scatter, RunsInPlaceOfTheData) {
  Random random(22);
  int ran = 0;
  for (int i = 0; i < 600 && !HasFailure(); ++i) {
    TestStep step = RandomScatterStep(random);
    step.problem.inputs[0] = step.problem.outputs[0];
    step.Prepare(random);
    if (HasFatalFailure()) return;
    FillIndices(random, step);
    for (const abi::KernelInfo& info : CpuVariants(step.problem.family)) {
      if (!info.supports(step.problem, HostDevice()).empty()) continue;
      EXPECT_FALSE(info.in_place(step.problem, 1) || info.in_place(step.problem, 2));
      if (!info.in_place(step.problem, 0)) continue;
      ++ran;
      EXPECT_TRUE(SameInPlace(info, step, 0)) << abi::ToString(step.problem);
    }
  }
  EXPECT_GE(ran, 600);
}

/// Dense, with its axes stored in a random order.
abi::View PermutedView(Random& random, DType dtype, const Dims& shape) {
  abi::View view = abi::DenseView(dtype, shape);
  std::vector<int> order;
  for (int d = 0; d < shape.rank(); ++d) {
    order.insert(order.begin() + Pick(random, 0, d), d);
  }
  int64_t stride = 1;
  for (int axis : order) {
    view.strides[axis] = stride;
    stride *= shape[axis];
  }
  return view;
}

// A cache [B, G, S, D] that is seen as [S, B, G, D], and every other order of axes: the fast
// variants take it, in place and not, and write the rows that the reference writes.
TEST(Scatter, RowsOfDataInAnyOrderOfAxes) {
  Random random(23);
  int rows = 0;
  for (int i = 0; i < 400 && !HasFailure(); ++i) {
    TestStep step;
    abi::Problem& p = step.problem;
    p.family = abi::Family::kScatter;
    p.attrs = RandomAttrs(random, ScatterKind::kPoints);
    const int rank = static_cast<int>(Pick(random, 2, 4));
    const int n = static_cast<int>(Pick(random, 1, rank - 1));
    Dims data, updates{Pick(random, 1, 6)};
    for (int d = 0; d < rank; ++d) data.push_back(Pick(random, 1, 6));
    for (int d = n; d < rank; ++d) updates.push_back(data[d]);
    p.outputs = {PermutedView(random, DType::kF32, data)};
    p.inputs = {p.outputs[0], abi::DenseView(DType::kI64, {updates[0], n}),
                PermutedView(random, DType::kF32, updates)};
    p.core_inputs = 3;
    step.Prepare(random);
    if (HasFatalFailure()) return;
    FillIndices(random, step);
    CompareVariants(step, 0, 0);
    for (const abi::KernelInfo& info : CpuVariants(p.family)) {
      if (info.key != "cpu.scatter.rows") continue;
      EXPECT_EQ(info.supports(p, HostDevice()), "") << abi::ToString(p);
      EXPECT_TRUE(SameInPlace(info, step, 0)) << abi::ToString(p);
      ++rows;
    }
  }
  EXPECT_EQ(rows, 400);
}

// The last of equal targets wins, and sums form in the order of the updates.
TEST(Scatter, DuplicatesApplyInOrder) {
  for (const ScatterReduction reduction : {ScatterReduction::kNone, ScatterReduction::kAdd}) {
    TestStep step;
    abi::Problem& p = step.problem;
    p.family = abi::Family::kScatter;
    p.attrs = abi::ScatterAttrs{ScatterKind::kElements, reduction, 0};
    p.inputs = {abi::DenseView(DType::kF32, {2}), abi::DenseView(DType::kI64, {3}),
                abi::DenseView(DType::kF32, {3})};
    p.core_inputs = 3;
    p.outputs = {abi::DenseView(DType::kF32, {2})};
    Random random(1);
    step.Prepare(random);
    const double updates[] = {0x1p25, 1, -0x1p25};
    for (int i = 0; i < 3; ++i) {
      step.input(1).Set(i, 1);
      step.input(2).Set(i, updates[i]);
    }
    step.input(0).Set(1, 0);
    for (const abi::KernelInfo& info : CpuVariants(p.family)) {
      if (!info.supports(p, HostDevice()).empty()) continue;
      const double want = reduction == ScatterReduction::kNone ? -0x1p25 : 0;
      EXPECT_EQ(RunVariant(info, step)[0].At(1), want) << info.key;
    }
  }
}

}  // namespace
}  // namespace aicf::cpu
