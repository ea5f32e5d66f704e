/// The inner loops of the vector sampling.
#pragma once

#include <cstdint>

namespace aicf::cpu {

inline constexpr int kSampleRun = 32;   ///< points whose taps are kept at once
inline constexpr int kSampleTaps = 16;  ///< cubic over two axes; linear over three needs 8

struct SampleRun {
  int points = 0;
  int taps = 0;
  int64_t out[kSampleRun];  ///< offset of the point in the output's first channel
  /// Offset of each tap in x's first channel. A tap outside of x has the offset of some element of
  /// x, and its `inside` is false, so that it reads as zero.
  int64_t offset[kSampleTaps][kSampleRun];
  float weight[kSampleTaps][kSampleRun];
  bool inside[kSampleTaps][kSampleRun];
};

/// sum[i] = what the taps of point i give in one channel; all kSampleRun entries of the run are
/// filled.
using SampleLoop = void (*)(const SampleRun& run, const float* channel, float* sum);

namespace baseline {
void BlendPoints(const SampleRun& run, const float* channel, float* sum);
}
namespace avx2 {
void BlendPoints(const SampleRun& run, const float* channel, float* sum);
}
namespace avx512 {
void BlendPoints(const SampleRun& run, const float* channel, float* sum);
}

}  // namespace aicf::cpu
