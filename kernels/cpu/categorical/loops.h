/// The inner loops of the vector draws, on one row of logits as floats.
#pragma once

#include <cstdint>

namespace aicf::cpu {

/// Category i belongs to group i / kStretch * kStretchGroups + i % kStretchGroups, so that the
/// groups of a stretch are the lanes of vectors.
inline constexpr int64_t kStretch = 512;
inline constexpr int64_t kStretchGroups = 16;

/// One instruction set's loops. All but widen_f16 give the same bits on every instruction set with
/// fused multiply-add; without it, the masses differ in their last bits.
struct CategoricalLoops {
  void (*widen_f16)(const uint16_t* from, float* to, int64_t n);
  void (*widen_bf16)(const uint16_t* from, float* to, int64_t n);
  /// most[g] = the largest logit of group g, for all groups of the stretches that hold n logits.
  /// Places behind the last logit count as minus infinity. Returns the largest logit of all, or NaN
  /// where one is NaN.
  float (*maxima)(const float* x, int64_t n, float* most);
  /// mass[i] = exp((x[i] - max) * factor), or 0 where that is below e^-700. Returns their sum.
  double (*masses)(const float* x, int64_t n, float max, double factor, double* mass);
};

namespace baseline {
extern const CategoricalLoops kCategoricalLoops;
}
namespace avx2 {
extern const CategoricalLoops kCategoricalLoops;
}
namespace avx512 {
extern const CategoricalLoops kCategoricalLoops;
}

}  // namespace aicf::cpu
