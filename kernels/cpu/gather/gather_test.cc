#include <gtest/gtest.h>

#include "kernels/cpu/common/test_step.h"

namespace aicf::cpu {
namespace {

TestStep RandomGatherStep(Random& random) {
  TestStep step;
  abi::Problem& p = step.problem;
  p.family = abi::Family::kGather;
  const DType dtype = static_cast<DType>(Pick(random, 0, kDTypeCount - 1));
  const int rank = static_cast<int>(Pick(random, 1, 4));
  const Dims data = RandomShape(random, rank, 12);
  const Dims indices = RandomShape(random, static_cast<int>(Pick(random, 0, 2)), 40);
  const int axis = static_cast<int>(Pick(random, 0, rank - 1));
  p.attrs = abi::GatherAttrs{axis};
  Dims out;
  for (int d = 0; d < axis; ++d) out.push_back(data[d]);
  for (int64_t extent : indices) out.push_back(extent);
  for (int d = axis + 1; d < rank; ++d) out.push_back(data[d]);
  p.inputs.push_back(RandomView(random, dtype, data, Chance(random, 20)));
  p.inputs.push_back(
      RandomView(random, Chance(random, 50) ? DType::kI64 : DType::kI32, indices, true));
  p.core_inputs = 2;
  p.outputs.push_back(RandomView(random, dtype, out, false));
  return step;
}

TEST(Gather, VariantsMatchTheReferenceAndTheDefinition) {
  Random random(1);
  int ran = 0;
  for (int i = 0; i < 800 && !HasFailure(); ++i) {
    TestStep step = RandomGatherStep(random);
    step.Prepare(random);
    if (HasFatalFailure()) return;
    abi::Problem& p = step.problem;
    const int axis = static_cast<int>(p.as<abi::GatherAttrs>().axis);
    const int64_t extent = p.inputs[0].shape[axis];
    // Some indices count from the end, and some lie just outside on either side.
    for (int64_t k = 0; k < step.input(1).elements(); ++k) {
      step.input(1).Set(k, static_cast<double>(Pick(random, -extent - 2, extent + 1)));
    }
    ran += CompareVariants(step, 0, 0);
    const std::vector<TestBuffer> out = RunVariant(CpuVariants(p.family).back(), step);
    const int index_rank = p.inputs[1].shape.rank();
    ForEachIndex(p.outputs[0].shape, [&](const int64_t* at) {
      auto index = static_cast<int64_t>(step.input(1).At(at + axis));
      if (index < 0) index += extent;
      int64_t coords[kMaxRank] = {};
      for (int d = 0; d < axis; ++d) coords[d] = at[d];
      coords[axis] = index;
      for (int d = axis + 1; d < p.inputs[0].shape.rank(); ++d) coords[d] = at[d + index_rank - 1];
      const bool inside = index >= 0 && index < extent;
      const double zero = Stored(0, p.outputs[0].dtype);
      ASSERT_EQ(out[0].At(at), inside ? step.input(0).At(coords) : zero) << abi::ToString(p);
    });
  }
  EXPECT_GE(ran, 200);
}

}  // namespace
}  // namespace aicf::cpu
