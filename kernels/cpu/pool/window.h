/// The geometry of a pooling step in three spatial axes (missing ones have extent 1).
#pragma once

#include <cstdint>

#include "kernels/abi/kernel.h"

namespace aicf::cpu {

/// Taps of one window along one axis.
struct Window {
  int64_t first = 0;   ///< input position of the first tap inside the input
  int64_t count = 0;   ///< taps inside the input
  int64_t padded = 0;  ///< taps inside the padded input
};

struct PoolGeometry {
  explicit PoolGeometry(const abi::ArgBlock& args);

  Window WindowAt(int axis, int64_t out) const;

  /// Spatial axes that the step does not have; those it has are [missing(), 3).
  int missing() const { return 2 - first_axis; }

  int64_t batch, channels;
  int64_t in[3], out[3];
  int64_t kernel[3], stride[3], dilation[3], pad[3], pad_end[3];
  int64_t in_stride[3];  ///< elements between neighbours of x along a spatial axis
  int64_t batch_stride, channel_stride;
  int first_axis;  ///< tensor axis of spatial axis i is first_axis + i
};

}  // namespace aicf::cpu
