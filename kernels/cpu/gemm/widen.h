/// Conversion of runs of half-precision values, once per instruction set.
#pragma once

#include <cstdint>

namespace aicf::cpu {

#define AICF_WIDEN_OF(isa)                                                     \
  namespace isa {                                                              \
  /** to[i] = from[i] for n contiguous f16 (or, with is_bf16, bf16) values. */ \
  void WidenRun(const uint16_t* from, bool is_bf16, int64_t n, float* to);     \
  }
AICF_WIDEN_OF(baseline)
AICF_WIDEN_OF(avx2)
AICF_WIDEN_OF(avx512)
#undef AICF_WIDEN_OF

using WidenRunFn = void (*)(const uint16_t* from, bool is_bf16, int64_t n, float* to);

}  // namespace aicf::cpu
