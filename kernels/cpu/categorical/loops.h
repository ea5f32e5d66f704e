/// The inner loops of the vector draws, on one row of logits as floats.
#pragma once

#include <cstdint>

namespace aicf::cpu {

/// Category i belongs to group i / kStretch * kStretchGroups + i % kStretchGroups, so that the
/// groups of a stretch are the lanes of vectors.
inline constexpr int64_t kStretch = 512;
inline constexpr int64_t kStretchGroups = 16;

/// One instruction set's loops. All but widen_f16 give the same bits on every one where it has
/// fused products, and differ in the last bits of masses where it has not.
struct CategoricalLoops {
  void (*widen_f16)(const uint16_t* from, float* to, int64_t n);
  void (*widen_bf16)(const uint16_t* from, float* to, int64_t n);
  /// most[g] = the largest logit of group g, for all groups of whole stretches that hold n logits;
  /// places behind the last are as minus infinity. Gives the largest of all, NaN where one is.
  float (*maxima)(const float* x, int64_t n, float* most);
  /// mass[i] = exp((x[i] - max) * factor), and gives their sum. Below e^-700 it is 0.
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
