#include "kernels/cpu/functions.h"
#include "kernels/cpu/normalize/normalize.h"

namespace aicf::cpu {

template <>
abi::CpuKernelFn FunctionOf<abi::Family::kNormalize>(std::string_view key) {
#define AICF_CPU_KERNEL(text, isa, host, function) \
  if (key == text) return function;
#include "kernels/cpu/normalize/list.inc"
#undef AICF_CPU_KERNEL
  return nullptr;
}

}  // namespace aicf::cpu
