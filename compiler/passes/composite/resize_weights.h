/// Resize along one axis as weights on input elements, for the forms that are not a step of the
/// resize family: antialias, and crops (tf_crop_and_resize).
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/abi/attrs.h"

namespace aicf {

struct AxisResize {
  abi::ResizeAttrs attrs;  ///< of this axis alone: one scale
  int64_t in = 0, out = 0;
  bool antialias = false;
  bool crop = false;  ///< coordinates follow from roi_begin and roi_end
  double roi_begin = 0, roi_end = 1;
};

/// The weights of one output element.
struct Taps {
  std::vector<int64_t> index;  ///< inside the input; may repeat at the border
  std::vector<double> weight;  ///< sums to 1
  bool outside = false;        ///< a crop leaves the input here: it gives the extrapolation value
};

/// Number of input elements that contribute to an output element; infinite or NaN where no finite
/// number is enough.
double TapsOf(const AxisResize& axis);

/// The weights of output element o. REQUIRES: in >= 1, and TapsOf() is a number of elements that
/// the caller can afford.
Taps WeightsOf(const AxisResize& axis, int64_t o);

}  // namespace aicf
