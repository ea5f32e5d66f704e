#include "kernels/cuda/copy/hosts.h"

namespace aicf::abi {

template <>
std::span<const KernelInfo> CudaKernels<Family::kCopy>() {
  static const KernelInfo rows[] = {cuda::CudaRow<cuda::CopyPiecesHost>(Family::kCopy),
                                    cuda::CudaRow<cuda::CopyTransposeHost>(Family::kCopy),
                                    cuda::CudaRow<cuda::CopyFillHost>(Family::kCopy)};
  return rows;
}

}  // namespace aicf::abi
