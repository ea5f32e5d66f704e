/// The inner loops of the vector normalisations, on contiguous f32 values. dst may be src.
#pragma once

#include <cstdint>

#include "kernels/abi/attrs.h"
#include "kernels/cpu/expr/block_eval.h"

namespace aicf::cpu {

/// Most groups that are normalised side by side.
inline constexpr int64_t kNormalizeTile = 256;

struct NormalizeLoops {
  EvalBlockFn eval;
  /// The largest value; NaN when there is one. REQUIRES: n > 0.
  float (*max)(const float* src, int64_t n);
  double (*sum)(const float* src, int64_t n);
  /// Sum of (src[i] - shift)^2.
  double (*squares)(const float* src, int64_t n, float shift);
  /// dst[i] = exp(src[i] - shift), and their sum. dst may be null.
  double (*exponentials)(const float* src, float* dst, int64_t n, float shift);
  /// dst[i] = (src[i] - shift) * scale.
  void (*affine)(const float* src, float* dst, int64_t n, float shift, float scale);
  /// Normalises `width` <= kNormalizeTile groups side by side: element e of group w is
  /// values[e * width + w].
  void (*columns)(abi::NormalizeKind kind, double epsilon, float* values, int64_t elements,
                  int64_t width);
  /// totals[c] += the sum over all rows of (values[row * stride + c] - shift[c]), or of its square.
  /// REQUIRES: columns <= kNormalizeTile.
  void (*column_sums)(const float* values, int64_t stride, int64_t rows, int64_t columns,
                      const float* shift, bool squares, double* totals);
  /// dst[row * columns + c] = (src[row * stride + c] - shift[c]) * scale[c].
  void (*column_affine)(const float* src, int64_t stride, float* dst, int64_t rows, int64_t columns,
                        const float* shift, const float* scale);
};

namespace baseline {
extern const NormalizeLoops kNormalizeLoops;
}
namespace avx2 {
extern const NormalizeLoops kNormalizeLoops;
}
namespace avx512 {
extern const NormalizeLoops kNormalizeLoops;
}

}  // namespace aicf::cpu
