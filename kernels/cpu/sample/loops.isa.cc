#include "kernels/cpu/sample/loops.h"

#include "kernels/cpu/isa.h"

AICF_ISA_BEGIN

void BlendPoints(const SampleRun& run, const float* channel, float* sum) {
  float total[kSampleRun] = {};
  for (int t = 0; t < run.taps; ++t) {
    for (int i = 0; i < kSampleRun; ++i) {
      // An element outside reads as zero, whatever stands where the tap was sent.
      const float value = channel[run.offset[t][i]];
      total[i] += run.inside[t][i] ? run.weight[t][i] * value : 0.0f;
    }
  }
  for (int i = 0; i < kSampleRun; ++i) sum[i] = total[i];
}

AICF_ISA_END
