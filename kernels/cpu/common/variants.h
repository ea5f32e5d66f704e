/// Declares a kernel that is compiled once per instruction set (kernels/cpu/isa.h).
#pragma once

#include "kernels/abi/kernel.h"

#define AICF_CPU_ISA_VARIANTS(Name)             \
  namespace baseline {                          \
  void Name(const ::aicf::abi::ArgBlock& args); \
  }                                             \
  namespace avx2 {                              \
  void Name(const ::aicf::abi::ArgBlock& args); \
  }                                             \
  namespace avx512 {                            \
  void Name(const ::aicf::abi::ArgBlock& args); \
  }
