/// Conversion of runs of values to f32, once per instruction set.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace aicf::cpu {

#define AICF_WIDEN_OF(isa)                                                    \
  namespace isa {                                                             \
  /** to[i] = from[i] for n contiguous values of f16, bf16, u8, i8 or i16. */ \
  void WidenRun(const void* from, DType dtype, int64_t n, float* to);         \
  }
AICF_WIDEN_OF(baseline)
AICF_WIDEN_OF(avx2)
AICF_WIDEN_OF(avx512)
#undef AICF_WIDEN_OF

using WidenRunFn = void (*)(const void* from, DType dtype, int64_t n, float* to);

}  // namespace aicf::cpu
