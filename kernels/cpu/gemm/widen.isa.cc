#include "kernels/cpu/gemm/widen.h"

#include "kernels/cpu/common/simd.h"

AICF_ISA_BEGIN

void WidenRun(const uint16_t* from, bool is_bf16, int64_t n, float* to) {
  if (is_bf16) {
    for (int64_t i = 0; i < n; ++i) to[i] = BF16ToF32(from[i]);
    return;
  }
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) Store(to + i, WidenHalf(from + i));
  for (; i < n; ++i) to[i] = F16ToF32(from[i]);
}

AICF_ISA_END
