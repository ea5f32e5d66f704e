/// The inner loops of the vector resampling.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "kernels/cpu/expr/block_eval.h"

namespace aicf::cpu {

/// One output coordinate along one axis: elements of x (already times the stride) and their
/// weights.
struct ResizeTap {
  int64_t offset[4];
  float weight[4];
  int64_t count;
};

/// The most products of taps that one output element sums.
inline constexpr int kMaxBlend = 64;

/// A weighted sum of runs of x.
struct Blend {
  int count = 0;
  const void* from[kMaxBlend];
  float weight[kMaxBlend];
};

struct ResizeLoops {
  EvalBlockFn eval;
  /// out[i] = sum over b of weight[b] * from[b][i]; dtype f32, f16 or bf16.
  void (*blend)(DType dtype, const Blend& blend, int64_t n, float* out);
  /// out[i] = sum over t of taps[i].weight[t] * row[taps[i].offset[t]]; all taps have `count`
  /// elements.
  void (*resample)(const float* row, const ResizeTap* taps, int64_t count, int64_t n, float* out);
};

namespace baseline {
extern const ResizeLoops kResizeLoops;
}
namespace avx2 {
extern const ResizeLoops kResizeLoops;
}
namespace avx512 {
extern const ResizeLoops kResizeLoops;
}

}  // namespace aicf::cpu
