#include <gtest/gtest.h>

#include "kernels/cpu/common/test_step.h"

namespace aicf::cpu {
namespace {

/// Splits `shape` along one axis into pieces, with holes when there is a fill.
TestStep RandomCopyStep(Random& random) {
  TestStep step;
  abi::Problem& p = step.problem;
  p.family = abi::Family::kCopy;
  abi::CopyAttrs attrs;
  const DType dtype = static_cast<DType>(Pick(random, 0, kDTypeCount - 1));
  const int rank = static_cast<int>(Pick(random, 0, 5));
  const Dims shape = RandomShape(random, rank, rank == 1 ? 3000 : rank == 2 ? 90 : 12);
  attrs.has_fill = Chance(random, 50);
  attrs.fill = Chance(random, 50) ? 0 : static_cast<double>(Pick(random, 0, 1));
  const int axis = rank == 0 ? -1 : static_cast<int>(Pick(random, 0, rank - 1));
  int64_t at = 0;
  const int pieces = axis < 0 ? 1 : static_cast<int>(Pick(random, 1, 3));
  for (int i = 0; i < pieces; ++i) {
    Dims piece = shape;
    Dims start = Dims::Filled(rank, 0);
    if (axis >= 0) {
      const int64_t left = shape[axis] - at;
      const int64_t gap = attrs.has_fill ? Pick(random, 0, left) / 2 : 0;
      const int64_t take = !attrs.has_fill && i == pieces - 1 ? left : Pick(random, 0, left - gap);
      start[axis] = at + gap;
      piece[axis] = take;
      at += gap + take;
    }
    for (int d = 0; d < rank && attrs.has_fill; ++d) {
      if (d == axis || Chance(random, 50)) continue;
      start[d] = Pick(random, 0, shape[d]);
      piece[d] = Pick(random, 0, shape[d] - start[d]);
    }
    attrs.starts.push_back(start);
    p.inputs.push_back(RandomView(random, dtype, piece, true));
  }
  p.core_inputs = static_cast<int>(p.inputs.size());
  p.outputs.push_back(RandomView(random, dtype, shape, false));
  p.attrs = attrs;
  return step;
}

/// What the attributes say, point by point of the output.
double ExpectedCopy(const TestStep& step, const int64_t* at) {
  const auto& attrs = step.problem.as<abi::CopyAttrs>();
  for (size_t p = 0; p < attrs.starts.size(); ++p) {
    const Dims& shape = step.problem.inputs[p].shape;
    int64_t local[kMaxRank] = {};
    bool inside = true;
    for (int d = 0; d < shape.rank(); ++d) {
      local[d] = at[d] - attrs.starts[p][d];
      inside = inside && local[d] >= 0 && local[d] < shape[d];
    }
    if (inside) return step.buffers[p].At(local);
  }
  return Stored(attrs.fill, step.problem.outputs[0].dtype);
}

TEST(Copy, VariantsMatchTheReferenceAndTheDefinition) {
  Random random(1);
  int ran = 0;
  for (int i = 0; i < 1200 && !HasFailure(); ++i) {
    TestStep step = RandomCopyStep(random);
    step.Prepare(random);
    if (HasFatalFailure()) return;
    ran += CompareVariants(step, 0, 0);
    const std::vector<TestBuffer> out = RunVariant(CpuVariants(abi::Family::kCopy).back(), step);
    ForEachIndex(step.problem.outputs[0].shape, [&](const int64_t* at) {
      ASSERT_EQ(out[0].At(at), ExpectedCopy(step, at)) << abi::ToString(step.problem);
    });
  }
  EXPECT_GE(ran, 1200);
}

// Transposes and layout changes larger than a block, with remainders.
TEST(Copy, LargeTransposes) {
  Random random(2);
  for (const Dims& shape : {Dims{1, 3, 65, 77}, Dims{2, 4, 33, 40}, Dims{1, 96, 70, 41},
                            Dims{1, 17, 259, 31}, Dims{70, 1, 131, 1}}) {
    for (DType dtype : {DType::kF32, DType::kF16, DType::kU8, DType::kI64}) {
      for (bool to_last : {false, true}) {
        TestStep step;
        abi::Problem& p = step.problem;
        p.family = abi::Family::kCopy;
        p.attrs = abi::CopyAttrs{{Dims::Filled(4, 0)}, false, 0};
        abi::View last = abi::DenseView(dtype, shape);
        const int64_t c = shape[1], h = shape[2], w = shape[3];
        last.strides = {c * h * w, 1, c * w, c};
        p.inputs = {to_last ? abi::DenseView(dtype, shape) : last};
        p.outputs = {to_last ? last : abi::DenseView(dtype, shape)};
        p.core_inputs = 1;
        step.Prepare(random);
        if (HasFatalFailure()) return;
        EXPECT_GT(CompareVariants(step, 0, 0), 0);
      }
    }
  }
}

}  // namespace
}  // namespace aicf::cpu
