#include "kernels/cuda/recurrent/hosts.h"

namespace aicf::abi {

template <>
std::span<const KernelInfo> CudaKernels<Family::kRecurrent>() {
  static const KernelInfo rows[] = {cuda::CudaRow<cuda::RecurrentClusterHost>(Family::kRecurrent)};
  return rows;
}

}  // namespace aicf::abi
