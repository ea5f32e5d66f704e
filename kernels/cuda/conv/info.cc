#include "kernels/cuda/conv/hosts.h"

namespace aicf::abi {

template <>
std::span<const KernelInfo> CudaKernels<Family::kConv>() {
  static const KernelInfo rows[] = {
      cuda::CudaRow<cuda::ConvDepthwiseHost>(Family::kConv),
      cuda::CudaRow<cuda::ConvImplicitGemmHost>(Family::kConv),
      cuda::CudaRow<cuda::ConvTensorHost>(Family::kConv),
      cuda::CudaRow<cuda::ConvDirectHost>(Family::kConv),
  };
  return rows;
}

}  // namespace aicf::abi
