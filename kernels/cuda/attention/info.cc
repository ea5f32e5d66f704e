#include "kernels/abi/registry.h"

namespace aicf::abi {

template <>
std::span<const KernelInfo> CudaKernels<Family::kAttention>() {
  return {};
}

}  // namespace aicf::abi
