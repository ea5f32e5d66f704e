#include "kernels/cpu/functions.h"
#include "kernels/cpu/sample/sample.h"

namespace aicf::cpu {

template <>
abi::CpuKernelFn FunctionOf<abi::Family::kSample>(std::string_view key) {
#define AICF_CPU_KERNEL(text, isa, host, function) \
  if (key == text) return function;
#include "kernels/cpu/sample/list.inc"
#undef AICF_CPU_KERNEL
  return nullptr;
}

}  // namespace aicf::cpu
