#include "kernels/cpu/functions.h"
#include "kernels/cpu/gemm/blis.h"
#include "kernels/cpu/gemm/gemm.h"
#include "kernels/cpu/gemm/ref.h"

namespace aicf::cpu {

template <>
abi::CpuKernelFn FunctionOf<abi::Family::kGemm>(std::string_view key) {
  using enum abi::CpuIsa;
#define AICF_CPU_KERNEL(text, host, function) \
  if (key == text) return function;
#include "kernels/cpu/gemm/list.inc"
#undef AICF_CPU_KERNEL
  return nullptr;
}

}  // namespace aicf::cpu
