#include "kernels/cpu/functions.h"
#include "kernels/cpu/conv/igemm.h"
#include "kernels/cpu/conv/ref.h"
#include "kernels/cpu/conv/winograd.h"

namespace aicf::cpu {

template <>
abi::CpuKernelFn FunctionOf<abi::Family::kConv>(std::string_view key) {
  using enum abi::CpuIsa;
#define AICF_CPU_KERNEL(text, host, function) \
  if (key == text) return function;
#include "kernels/cpu/conv/list.inc"
#undef AICF_CPU_KERNEL
  return nullptr;
}

}  // namespace aicf::cpu
