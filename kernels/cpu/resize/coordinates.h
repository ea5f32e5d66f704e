/// The coordinate map of Resize along one axis, shared by every variant so that all choose the same
/// elements.
#pragma once

#include <cstdint>

#include "kernels/abi/attrs.h"

namespace aicf::cpu {

/// The input elements under one output coordinate. Indices lie inside the input (repeated at the
/// border); weights sum to 1.
struct AxisTaps {
  int count = 0;
  int64_t index[4] = {};
  double weight[4] = {};
};

/// The output's extent as align_corners means it: scale * in, unrounded. Where that differs from
/// `out` only because the scale itself is rounded to f32 (an integral product, or sizes given
/// instead of scales), it is `out`.
double ResizedLength(double scale, int64_t in, int64_t out);

/// Coordinate in the input of output coordinate `o`. Evaluated in f32, as ONNX Runtime does: with a
/// scale that was itself rounded to f32, this is what sends exact multiples to exact elements.
/// align_corners, which divides extents instead, is evaluated in f64.
double SourceCoordinate(const abi::ResizeAttrs& attrs, int axis, int64_t in, int64_t out,
                        int64_t o);

/// An axis that keeps its extent at scale 1 is copied, whatever the mode.
AxisTaps TapsOf(const abi::ResizeAttrs& attrs, int axis, int64_t in, int64_t out, int64_t o);

}  // namespace aicf::cpu
