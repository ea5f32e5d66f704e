#include "kernels/cpu/normalize/loops.h"

#include "kernels/cpu/common/lanes.h"
#include "kernels/cpu/common/loop_functions.h"
#include "kernels/cpu/normalize/columns.h"

AICF_ISA_BEGIN
namespace {

/// Values summed in f32 before the sum moves to double; small enough to stay in the nearest cache.
constexpr int64_t kStretch = 512;

/// Sum of f(lanes) over a stretch in four chains. `pad` is a value that f maps to 0.
template <class F>
float SumStretch(const float* p, int64_t n, float pad, const F& f) {
  Lanes a{}, b{}, c{}, d{};
  int64_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    a += f(LoadLanes(p + i));
    b += f(LoadLanes(p + i + kLanes));
    c += f(LoadLanes(p + i + 2 * kLanes));
    d += f(LoadLanes(p + i + 3 * kLanes));
  }
  for (; i + kLanes <= n; i += kLanes) a += f(LoadLanes(p + i));
  if (i < n) {
    const LaneMask lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const Lanes some = LoadSome(p + i, n - i);
    b += f(lane < static_cast<int32_t>(n - i) ? some : AllLanes(pad));
  }
  return FoldLanes((a + b) + (c + d), [](Lanes x, Lanes y) { return x + y; });
}

template <class F>
double SumAll(const float* src, int64_t n, float pad, const F& f) {
  double sum = 0;
  for (int64_t i = 0; i < n; i += kStretch) {
    sum += static_cast<double>(SumStretch(src + i, n - i < kStretch ? n - i : kStretch, pad, f));
  }
  return sum;
}

double Sum(const float* src, int64_t n) {
  return SumAll(src, n, 0, [](Lanes v) { return v; });
}

double Squares(const float* src, int64_t n, float shift) {
  return SumAll(src, n, shift, [shift](Lanes v) { return (v - shift) * (v - shift); });
}

float Max(const float* src, int64_t n) {
  Lanes a = AllLanes(src[0]), b = a;
  int64_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    a = MaxOp::Do(a, LoadLanes(src + i));
    b = MaxOp::Do(b, LoadLanes(src + i + kLanes));
  }
  if (i + kLanes <= n) {
    a = MaxOp::Do(a, LoadLanes(src + i));
    i += kLanes;
  }
  if (n >= kLanes) {  // the rest as a full vector that overlaps values already taken
    b = MaxOp::Do(b, LoadLanes(src + n - kLanes));
    i = n;
  }
  float most = FoldLanes(MaxOp::Do(a, b), [](Lanes x, Lanes y) { return MaxOp::Do(x, y); });
  for (; i < n; ++i) most = MaxOp::Do(most, src[i]);
  return most;
}

double Exponentials(const float* src, float* dst, int64_t n, float shift) {
  double sum = 0;
  for (int64_t i = 0; i < n; i += kStretch) {
    const int64_t count = n - i < kStretch ? n - i : kStretch;
    alignas(64) float staged[kStretch];
    float* to = dst != nullptr ? dst + i : staged;
    const float* from = src + i;
#pragma GCC ivdep
    for (int64_t j = 0; j < count; ++j) to[j] = ExpToZero(from[j] - shift);
    sum += static_cast<double>(SumStretch(to, count, 0, [](Lanes v) { return v; }));
  }
  return sum;
}

void Affine(const float* src, float* dst, int64_t n, float shift, float scale) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) dst[i] = (src[i] - shift) * scale;
}

}  // namespace

extern const NormalizeLoops kNormalizeLoops = {&EvalBlock,        &Max,          &Sum,
                                               &Squares,          &Exponentials, &Affine,
                                               &NormalizeColumns, &ColumnSums,   &ColumnAffine};

AICF_ISA_END
