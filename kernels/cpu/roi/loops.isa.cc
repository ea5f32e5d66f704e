#include "kernels/cpu/roi/loops.h"

#include "kernels/cpu/isa.h"

AICF_ISA_BEGIN
namespace {

constexpr int64_t kChannels = 64;

/// Channels lie side by side: each corner is a row of them.
void BlendRows(const RoiCorners& corners, const float* x, int64_t channels, float* out,
               int64_t out_step) {
  for (int64_t first = 0; first < channels; first += kChannels) {
    const int64_t count = channels - first < kChannels ? channels - first : kChannels;
    float sum[kChannels] = {};
    for (int k = 0; k < corners.count; ++k) {
      const float* row = x + corners.offset[k] + first;
      for (int64_t c = 0; c < count; ++c) sum[c] += corners.weight[k] * row[c];
    }
    for (int64_t c = 0; c < count; ++c) out[(first + c) * out_step] += sum[c];
  }
}

}  // namespace

void BlendCorners(const RoiCorners& corners, const float* x, int64_t plane_step, int64_t channels,
                  float* out, int64_t out_step) {
  if (plane_step == 1) return BlendRows(corners, x, channels, out, out_step);
  for (int64_t c = 0; c < channels; ++c) {
    const float* plane = x + c * plane_step;
    // Four sums: a corner of each sample, so that additions do not wait for each other.
    float sum[4] = {};
    for (int k = 0; k < corners.count; k += 4) {
      for (int j = 0; j < 4; ++j) sum[j] += corners.weight[k + j] * plane[corners.offset[k + j]];
    }
    out[c * out_step] += (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }
}

AICF_ISA_END
