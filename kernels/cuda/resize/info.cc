#include "kernels/cuda/resize/hosts.h"

namespace aicf::abi {

template <>
std::span<const KernelInfo> CudaKernels<Family::kResize>() {
  static const KernelInfo rows[] = {cuda::CudaRow<cuda::ResizeTapsHost>(Family::kResize)};
  return rows;
}

}  // namespace aicf::abi
