/// cpu.resize.ref: for each output element, the weighted sum over the product of its axes' taps.
#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/resize/coordinates.h"
#include "kernels/cpu/resize/resize.h"

namespace aicf::cpu {
namespace {

/// Nearest copies one element, so that integers above 2^53 stay exact.
Scalar Resized(const abi::TensorArg& x, const AxisTaps* taps, DType dtype) {
  Dims counts;
  int64_t product = 1;
  for (int axis = 0; axis < x.rank; ++axis) {
    counts.push_back(taps[axis].count);
    product *= taps[axis].count;
  }
  int64_t coords[kMaxRank] = {};
  double sum = 0;
  ForEachIndex(counts, [&](const int64_t* tap) {
    double weight = 1;
    for (int axis = 0; axis < x.rank; ++axis) {
      coords[axis] = taps[axis].index[tap[axis]];
      weight *= taps[axis].weight[tap[axis]];
    }
    // An element of weight 0 must not turn the sum into NaN by being infinite.
    if (weight != 0) sum += weight * ScalarToDouble(LoadAt(x, coords), dtype);
  });
  return product == 1 ? LoadAt(x, coords) : ScalarFromDouble(sum, dtype);
}

}  // namespace

void ResizeRef(const abi::ArgBlock& args) {
  const auto& attrs = args.problem->as<abi::ResizeAttrs>();
  const abi::TensorArg& x = Input(args, 0);
  const abi::TensorArg& out = Output(args, 0);
  const DType dtype = abi::ComputeDType(x.dtype);
  ParallelIndices(args, ShapeOf(out), [&](const int64_t* out_coords) {
    AxisTaps taps[kMaxRank];
    for (int axis = 0; axis < x.rank; ++axis) {
      taps[axis] = TapsOf(attrs, axis, x.shape[axis], out.shape[axis], out_coords[axis]);
    }
    StoreEpilogue(args, out_coords, Resized(x, taps, dtype));
  });
}

}  // namespace aicf::cpu
