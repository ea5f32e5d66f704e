#include "kernels/cpu/categorical/loops.h"

#include "kernels/cpu/common/loop_functions.h"
#include "kernels/cpu/common/simd.h"
#include "kernels/cpu/expr/half.h"

AICF_ISA_BEGIN
namespace {

static_assert(kStretchGroups % kLanes == 0, "a group is a lane of one of several vectors");
constexpr int64_t kVectors = kStretchGroups / kLanes;
typedef int32_t NotANumber __attribute__((vector_size(sizeof(Vec))));

constexpr float kLeast = -__builtin_inff();

/// Maxima while stretches are walked: of each group of a stretch, and of everything so far (`all`).
/// A NaN sets all bits of its lane of `bad`.
struct Running {
  Vec all = Broadcast(kLeast);
  NotANumber bad = {};

  void Stretch(const float* x, float* most) {
    Vec of[kVectors];
    for (Vec& v : of) v = Broadcast(kLeast);
    for (int64_t i = 0; i < kStretch; i += kStretchGroups) {
      for (int64_t v = 0; v < kVectors; ++v) {
        const Vec logits = Load(x + i + v * kLanes);
        of[v] = Max(of[v], logits);
        bad |= (NotANumber)(logits != logits);
      }
    }
    for (int64_t v = 0; v < kVectors; ++v) {
      Store(most + v * kLanes, of[v]);
      all = Max(all, of[v]);
    }
  }
  float Most() const {
    float most = kLeast;
    for (int64_t l = 0; l < kLanes; ++l) {
      if (bad[l] != 0) return __builtin_nanf("");
      most = all[l] > most ? all[l] : most;
    }
    return most;
  }
};

float Maxima(const float* x, int64_t n, float* most) {
  Running running;
  int64_t i = 0;
  for (; i + kStretch <= n; i += kStretch, most += kStretchGroups) running.Stretch(x + i, most);
  if (i < n) {
    float rest[kStretch];
    for (int64_t j = 0; j < kStretch; ++j) rest[j] = i + j < n ? x[i + j] : kLeast;
    running.Stretch(rest, most);
  }
  return running.Most();
}

double Masses(const float* __restrict x, int64_t n, float max, double factor,
              double* __restrict mass) {
  const double most = static_cast<double>(max);
  for (int64_t i = 0; i < n; ++i) {
    const double below = static_cast<double>(x[i]) - most;
    // Bounded, since minus infinity times a factor of 0 would be NaN.
    const double bounded = below < -0x1p200 ? -0x1p200 : below;
    const double product = bounded * factor;
    const double power = product < -701.0 ? -701.0 : product;
    const double e = ExpDouble(power);
    const double some = below < -0x1p200 ? 0.0 : e;
    mass[i] = power < -700.0 ? 0.0 : some;
  }
  constexpr int64_t kChains = 16;
  double sums[kChains] = {};
  int64_t i = 0;
  for (; i + kChains <= n; i += kChains) {
    for (int64_t j = 0; j < kChains; ++j) sums[j] += mass[i + j];
  }
  double all = 0;
  for (double sum : sums) all += sum;
  for (; i < n; ++i) all += mass[i];
  return all;
}

}  // namespace

extern const CategoricalLoops kCategoricalLoops;
const CategoricalLoops kCategoricalLoops = {&WidenF16, &WidenBF16, &Maxima, &Masses};

AICF_ISA_END
