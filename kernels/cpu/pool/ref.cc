/// cpu.pool.ref: for each output element, a walk over those elements of its window that exist.
/// Elements in the padding are only counted, because a window may be far larger than the input.
#include <cmath>
#include <limits>

#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/expr/scalar_ops.h"
#include "kernels/cpu/pool/pool.h"
#include "kernels/cpu/pool/window.h"

namespace aicf::cpu {
namespace {

using abi::PoolKind;

/// Elements met in one window. Integers stay exact in `best`; sums are doubles.
struct Met {
  Scalar best{};
  bool any = false;
  double sum = 0;
  int64_t inside = 1;         ///< elements of the input
  int64_t inside_padded = 1;  ///< elements of the padded input
};

void TakeMax(Met& w, Scalar value, DType dtype) {
  bool better = !w.any;
  if (w.any && IsFloat(dtype)) better = !(value.f <= w.best.f) && !std::isnan(w.best.f);
  if (w.any && !IsFloat(dtype)) better = IntegerBinary(abi::ExprOp::kLt, w.best.i, value.i, dtype);
  if (better) w.best = value;
  w.any = true;
}

Scalar Finish(const abi::PoolAttrs& a, const Met& w, DType dtype) {
  if (a.kind == PoolKind::kMax) {
    const double lowest = -std::numeric_limits<double>::infinity();
    return w.any ? w.best : ScalarFromDouble(lowest, dtype);
  }
  if (a.kind == PoolKind::kLp) {
    return ScalarFromDouble(std::pow(w.sum, 1.0 / static_cast<double>(a.p)), dtype);
  }
  const int64_t count = a.count_include_pad ? w.inside_padded : w.inside;
  return ScalarFromDouble(w.sum / static_cast<double>(count), dtype);
}

}  // namespace

void PoolRef(const abi::ArgBlock& args) {
  const auto& a = args.problem->as<abi::PoolAttrs>();
  const abi::TensorArg& x = Input(args, 0);
  const DType dtype = abi::ComputeDType(x.dtype);
  const PoolGeometry geometry(args);
  ParallelIndices(args, ShapeOf(Output(args, 0)), [&](const int64_t* out_coords) {
    Met w;
    Window windows[3];
    Dims taps;
    for (int axis = geometry.missing(); axis < 3; ++axis) {
      windows[axis] = geometry.WindowAt(axis, out_coords[geometry.first_axis + axis]);
      w.inside *= windows[axis].count;
      w.inside_padded *= windows[axis].padded;
      taps.push_back(windows[axis].count);
    }
    ForEachIndex(taps, [&](const int64_t* tap) {
      int64_t coords[kMaxRank] = {out_coords[0], out_coords[1]};
      for (int axis = geometry.missing(), s = 0; axis < 3; ++axis, ++s) {
        coords[s + 2] = windows[axis].first + tap[s] * geometry.dilation[axis];
      }
      const Scalar value = LoadAt(x, coords);
      if (a.kind == PoolKind::kMax) return TakeMax(w, value, dtype);
      const double v = ScalarToDouble(value, dtype);
      w.sum += a.kind == PoolKind::kLp ? std::pow(std::fabs(v), static_cast<double>(a.p)) : v;
    });
    StoreEpilogue(args, out_coords, Finish(a, w, dtype));
  });
}

}  // namespace aicf::cpu
