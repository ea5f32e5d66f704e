#include "kernels/cpu/functions.h"
#include "kernels/cpu/resize/resize.h"

namespace aicf::cpu {

template <>
abi::CpuKernelFn FunctionOf<abi::Family::kResize>(std::string_view key) {
#define AICF_CPU_KERNEL(text, isa, host, function) \
  if (key == text) return function;
#include "kernels/cpu/resize/list.inc"
#undef AICF_CPU_KERNEL
  return nullptr;
}

}  // namespace aicf::cpu
