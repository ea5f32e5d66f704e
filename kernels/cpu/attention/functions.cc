#include "kernels/cpu/functions.h"
#include "kernels/cpu/attention/attention.h"

namespace aicf::cpu {

template <>
abi::CpuKernelFn FunctionOf<abi::Family::kAttention>(std::string_view key) {
  using enum abi::CpuIsa;
#define AICF_CPU_KERNEL(text, host, function) \
  if (key == text) return &function;
#include "kernels/cpu/attention/list.inc"
#undef AICF_CPU_KERNEL
  return nullptr;
}

}  // namespace aicf::cpu
