#include "kernels/cuda/gather/hosts.h"

namespace aicf::abi {

template <>
std::span<const KernelInfo> CudaKernels<Family::kGather>() {
  static const KernelInfo rows[] = {cuda::CudaRow<cuda::GatherMapHost>(Family::kGather)};
  return rows;
}

}  // namespace aicf::abi
