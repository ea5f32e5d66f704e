#include "kernels/cuda/topk/hosts.h"

namespace aicf::abi {

template <>
std::span<const KernelInfo> CudaKernels<Family::kTopK>() {
  static const KernelInfo rows[] = {cuda::CudaRow<cuda::TopKSelectHost>(Family::kTopK)};
  return rows;
}

}  // namespace aicf::abi
