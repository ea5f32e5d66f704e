#include "kernels/cpu/resize/loops.h"

#include "kernels/cpu/common/lanes.h"

AICF_ISA_BEGIN
namespace {

template <class T>
Lanes BlendLanes(const Blend& blend, int count, int64_t i) {
  Lanes sum = LoadLanes(static_cast<const T*>(blend.from[0]) + i) * blend.weight[0];
  for (int b = 1; b < count; ++b) {
    sum += LoadLanes(static_cast<const T*>(blend.from[b]) + i) * blend.weight[b];
  }
  return sum;
}

/// kCount > 0 lets the compiler keep the weights in registers.
template <class T, int kCount>
void BlendRuns(const Blend& blend, int64_t n, float* out) {
  const int count = kCount > 0 ? kCount : blend.count;
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) StoreLanes(out + i, BlendLanes<T>(blend, count, i));
  if (i < n && n >= kLanes) {  // the rest as an overlapping vector; allowed, as out is not an input
    return StoreLanes(out + n - kLanes, BlendLanes<T>(blend, count, n - kLanes));
  }
  for (; i < n; ++i) {
    float sum = LoadOne(static_cast<const T*>(blend.from[0]) + i) * blend.weight[0];
    for (int b = 1; b < count; ++b) {
      sum += LoadOne(static_cast<const T*>(blend.from[b]) + i) * blend.weight[b];
    }
    out[i] = sum;
  }
}

template <class T>
void BlendOf(const Blend& blend, int64_t n, float* out) {
  switch (blend.count) {
    case 1:
      return BlendRuns<T, 1>(blend, n, out);
    case 2:
      return BlendRuns<T, 2>(blend, n, out);
    case 4:
      return BlendRuns<T, 4>(blend, n, out);
    default:
      return BlendRuns<T, 0>(blend, n, out);
  }
}

void BlendAny(DType dtype, const Blend& blend, int64_t n, float* out) {
  if (dtype == DType::kF16) return BlendOf<F16>(blend, n, out);
  if (dtype == DType::kBF16) return BlendOf<BF16>(blend, n, out);
  BlendOf<float>(blend, n, out);
}

/// An element of weight 0 adds nothing, even where it is infinite.
inline float Weighted(float x, float weight) { return weight == 0 ? 0.0f : x * weight; }

template <int kCount>
void ResampleBy(const float* row, const ResizeTap* taps, int64_t n, float* out) {
  for (int64_t i = 0; i < n; ++i) {
    float sum = Weighted(row[taps[i].offset[0]], taps[i].weight[0]);
    for (int t = 1; t < kCount; ++t) sum += Weighted(row[taps[i].offset[t]], taps[i].weight[t]);
    out[i] = sum;
  }
}

void Resample(const float* row, const ResizeTap* taps, int64_t count, int64_t n, float* out) {
  if (count == 1) return ResampleBy<1>(row, taps, n, out);
  if (count == 2) return ResampleBy<2>(row, taps, n, out);
  ResampleBy<4>(row, taps, n, out);
}

}  // namespace

extern const ResizeLoops kResizeLoops = {&EvalBlock, &BlendAny, &Resample};

AICF_ISA_END
