#include "kernels/cuda/attention/hosts.h"

namespace aicf::abi {

template <>
std::span<const KernelInfo> CudaKernels<Family::kAttention>() {
  static const KernelInfo rows[] = {cuda::CudaRow<cuda::AttentionTensorHost>(Family::kAttention),
                                    cuda::CudaRow<cuda::AttentionGeneralHost>(Family::kAttention)};
  return rows;
}

}  // namespace aicf::abi
