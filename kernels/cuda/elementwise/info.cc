#include "kernels/cuda/elementwise/hosts.h"

namespace aicf::abi {

template <>
std::span<const KernelInfo> CudaKernels<Family::kElementwise>() {
  static const KernelInfo rows[] = {cuda::CudaRow<cuda::ElementwiseMapHost>(Family::kElementwise)};
  return rows;
}

}  // namespace aicf::abi
