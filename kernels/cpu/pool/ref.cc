/// cpu.pool.ref: for each output element, a walk over its window.
#include <cmath>
#include <limits>

#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/expr/scalar_ops.h"
#include "kernels/cpu/pool/pool.h"

namespace aicf::cpu {
namespace {

using abi::PoolKind;

/// Elements met in one window. Integers stay exact in `best`; sums are doubles.
struct Window {
  Scalar best{};
  bool any = false;
  double sum = 0;
  int64_t inside = 0;         ///< elements of the input
  int64_t inside_padded = 0;  ///< elements of the padded input
};

void TakeMax(Window& w, Scalar value, DType dtype) {
  bool better = !w.any;
  if (w.any && IsFloat(dtype)) better = !(value.f <= w.best.f) && !std::isnan(w.best.f);
  if (w.any && !IsFloat(dtype)) better = IntegerBinary(abi::ExprOp::kLt, w.best.i, value.i, dtype);
  if (better) w.best = value;
  w.any = true;
}

/// Sets coords to the input element under `tap` of the window at out_coords. False outside the
/// input; counts the tap as padding where it lies in the padded input.
bool Locate(const abi::PoolAttrs& a, const Dims& in, const int64_t* out_coords, const int64_t* tap,
            int64_t* coords, Window& w) {
  bool inside = true;
  bool padded = true;
  for (int s = 0; s < a.kernel.rank(); ++s) {
    const int64_t p = out_coords[s + 2] * a.strides[s] + tap[s] * a.dilations[s] - a.pads_begin[s];
    inside = inside && p >= 0 && p < in[s + 2];
    padded = padded && p < in[s + 2] + a.pads_end[s];
    coords[s + 2] = p;
  }
  w.inside += inside;
  w.inside_padded += padded;
  return inside;
}

Scalar Finish(const abi::PoolAttrs& a, const Window& w, DType dtype) {
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
  const Dims in = ShapeOf(x);
  ParallelIndices(args, ShapeOf(Output(args, 0)), [&](const int64_t* out_coords) {
    Window w;
    ForEachIndex(a.kernel, [&](const int64_t* tap) {
      int64_t coords[kMaxRank] = {out_coords[0], out_coords[1]};
      if (!Locate(a, in, out_coords, tap, coords, w)) return;
      const Scalar value = LoadAt(x, coords);
      if (a.kind == PoolKind::kMax) return TakeMax(w, value, dtype);
      const double v = ScalarToDouble(value, dtype);
      w.sum += a.kind == PoolKind::kLp ? std::pow(std::fabs(v), static_cast<double>(a.p)) : v;
    });
    StoreEpilogue(args, out_coords, Finish(a, w, dtype));
  });
}

}  // namespace aicf::cpu
