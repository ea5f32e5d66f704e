/// cpu.sample.ref: point by point, sums in double.
#include "kernels/cpu/common/indices.h"
#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/sample/coordinates.h"
#include "kernels/cpu/sample/sample.h"

namespace aicf::cpu {
namespace {

/// The taps of the spatial axes at one output point; the grid names the innermost axis first.
template <class T>
struct PointTaps {
  int spatial;
  int count;
  SampleTap<T> taps[3];

  PointTaps(const abi::ArgBlock& args, const int64_t* out) {
    const auto& attrs = args.problem->as<abi::SampleAttrs>();
    const abi::TensorArg &x = Input(args, 0), &grid = Input(args, 1);
    spatial = x.rank - 2;
    count = SampleTapCount(attrs.mode);
    int64_t at[kMaxRank] = {out[0]};
    for (int d = 0; d < spatial; ++d) at[d + 1] = out[d + 2];
    for (int d = 0; d < spatial; ++d) {
      at[spatial + 1] = spatial - 1 - d;
      taps[d] = SampleTapsOf(attrs, x.shape[d + 2], static_cast<T>(LoadAt(grid, at).f));
    }
  }

  /// Sum over the taps of axes d and later; `at` holds n, c and the axes before d.
  double Sum(const abi::TensorArg& x, int d, int64_t* at) const {
    if (d == spatial) return ScalarToDouble(LoadAt(x, at), abi::ComputeDType(x.dtype));
    double sum = 0;
    for (int k = 0; k < count; ++k) {
      at[d + 2] = taps[d].index[k];
      if (at[d + 2] < 0) continue;
      sum += static_cast<double>(taps[d].weight[k]) * Sum(x, d + 1, at);
    }
    return sum;
  }
};

template <class T>
void Sample(const abi::ArgBlock& args) {
  const abi::TensorArg &x = Input(args, 0), &out = Output(args, 0);
  const int64_t bytes = DTypeBytes(x.dtype);
  ParallelIndices(args, ShapeOf(out), [&](const int64_t* coords) {
    const PointTaps<T> point(args, coords);
    int64_t at[kMaxRank] = {coords[0], coords[1]};
    if (point.count > 1) {
      const double sum = point.Sum(x, 0, at);
      return StoreAt(out, coords, ScalarFromDouble(sum, abi::ComputeDType(x.dtype)));
    }
    bool inside = true;
    for (int d = 0; d < point.spatial; ++d) {
      at[d + 2] = point.taps[d].index[0];
      inside = inside && at[d + 2] >= 0;
    }
    if (inside) return CopyElement(ElementAt(out, coords), ElementAt(x, at), bytes);
    StoreAt(out, coords, ScalarFromDouble(0, abi::ComputeDType(x.dtype)));
  });
}

}  // namespace

void SampleRef(const abi::ArgBlock& args) {
  if (Input(args, 1).dtype == DType::kF64) return Sample<double>(args);
  Sample<float>(args);
}

}  // namespace aicf::cpu
