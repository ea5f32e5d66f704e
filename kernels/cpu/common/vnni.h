/// Whether the processor multiplies and sums bytes in one instruction. Kernels with such products
/// ask when they run: the results are the same either way.
#pragma once

namespace aicf::cpu {

/// AVX-512 VNNI.
inline bool HasVnni() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512vnni") != 0;
#else
  return false;
#endif
}

}  // namespace aicf::cpu
