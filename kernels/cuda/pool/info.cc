#include "kernels/cuda/pool/hosts.h"

namespace aicf::abi {

template <>
std::span<const KernelInfo> CudaKernels<Family::kPool>() {
  static const KernelInfo rows[] = {cuda::CudaRow<cuda::PoolWindowHost>(Family::kPool)};
  return rows;
}

}  // namespace aicf::abi
