#include "kernels/cpu/categorical/loops.h"

#include "kernels/cpu/common/lanes.h"
#include "kernels/cpu/common/loop_functions.h"

AICF_ISA_BEGIN
namespace {

static_assert(kStretchGroups == kLanes, "a group is a lane");

Lanes MaximaOfStretch(const float* x) {
  Lanes a = LoadLanes(x), b = LoadLanes(x + kLanes);
  for (int64_t i = 2 * kLanes; i < kStretch; i += 2 * kLanes) {
    a = MaxOp::Do(a, LoadLanes(x + i));
    b = MaxOp::Do(b, LoadLanes(x + i + kLanes));
  }
  return MaxOp::Do(a, b);
}

float Maxima(const float* x, int64_t n, float* most) {
  Lanes all = AllLanes(MaxOp::kIdentity);
  int64_t i = 0;
  for (; i + kStretch <= n; i += kStretch, most += kStretchGroups) {
    const Lanes of_stretch = MaximaOfStretch(x + i);
    StoreLanes(most, of_stretch);
    all = MaxOp::Do(all, of_stretch);
  }
  if (i < n) {
    float rest[kStretch];
    for (int64_t j = 0; j < kStretch; ++j) rest[j] = i + j < n ? x[i + j] : MaxOp::kIdentity;
    const Lanes of_stretch = MaximaOfStretch(rest);
    StoreLanes(most, of_stretch);
    all = MaxOp::Do(all, of_stretch);
  }
  return FoldLanes(all, [](Lanes a, Lanes b) { return MaxOp::Do(a, b); });
}

double Masses(const float* x, int64_t n, float max, double factor, double* mass) {
  const double most = static_cast<double>(max);
  for (int64_t i = 0; i < n; ++i) {
    const double below = static_cast<double>(x[i]) - most;
    // Minus infinity times a factor of 0 would be NaN.
    const double power = below < -0x1p200 ? -0x1p200 : below * factor;
    const double e = ExpDouble(power);
    mass[i] = power < -700.0 || below < -0x1p200 ? 0.0 : e;
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
