/// The inner loops of the vector RoiAlign.
#pragma once

#include <cstdint>

namespace aicf::cpu {

inline constexpr int kRoiCorners = 64;  ///< four for each sample

/// Weighted elements of a plane.
struct RoiCorners {
  int count = 0;
  int64_t offset[kRoiCorners];
  float weight[kRoiCorners];

  void Add(int64_t at, float by) {
    offset[count] = at;
    weight[count++] = by;
  }
};

/// Adds the corners' sum in each channel's plane to that channel's result. Steps in elements.
using RoiLoop = void (*)(const RoiCorners& corners, const float* x, int64_t plane_step,
                         int64_t channels, float* out, int64_t out_step);

#define AICF_ROI_LOOP                                                              \
  void BlendCorners(const RoiCorners& corners, const float* x, int64_t plane_step, \
                    int64_t channels, float* out, int64_t out_step);
namespace baseline {
AICF_ROI_LOOP
}
namespace avx2 {
AICF_ROI_LOOP
}
namespace avx512 {
AICF_ROI_LOOP
}
#undef AICF_ROI_LOOP

}  // namespace aicf::cpu
