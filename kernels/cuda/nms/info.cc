#include "kernels/cuda/nms/hosts.h"

namespace aicf::abi {

template <>
std::span<const KernelInfo> CudaKernels<Family::kNms>() {
  static const KernelInfo rows[] = {cuda::CudaRow<cuda::NmsGreedyHost>(Family::kNms)};
  return rows;
}

}  // namespace aicf::abi
