// The running softmax of one row of a tile.
#include "kernels/cpu/attention/flash_parts.h"
#include "kernels/cpu/common/lanes.h"
#include "kernels/cpu/common/loop_functions.h"

AICF_ISA_BEGIN

float SoftmaxRow(float* scores, FlashRow* row) {
  // A NaN never becomes the maximum. It stays among the scores and makes the sum NaN.
  Lanes most = AllLanes(row->max);
  for (int64_t i = 0; i < kFlashKeys; i += kLanes) {
    const Lanes s = LoadLanes(scores + i);
    most = s > most ? s : most;
  }
  const float max = FoldLanes(most, [](Lanes a, Lanes b) { return a > b ? a : b; });
  // Where every score so far is -inf, 0 takes the place of the maximum, so that each exponential is
  // 0 instead of NaN.
  const float base = max == -__builtin_inff() ? 0 : max;
#pragma GCC ivdep
  for (int64_t i = 0; i < kFlashKeys; ++i) scores[i] = ExpToZero(scores[i] - base);
  Lanes sum{};
  for (int64_t i = 0; i < kFlashKeys; i += kLanes) sum += LoadLanes(scores + i);
  const float factor = row->max == max ? 1 : ExpToZero(row->max - base);
  row->max = max;
  row->sum = row->sum * factor + FoldLanes(sum, SumOp::Do<Lanes>);
  return factor;
}

void RescaleRow(float* sums, const float* product, float factor, int64_t n) {
  for (int64_t i = 0; i < n; i += kLanes) {
    StoreLanes(sums + i, LoadLanes(sums + i) * factor + LoadLanes(product + i));
  }
}

AICF_ISA_END
