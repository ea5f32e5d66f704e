#include "kernels/cuda/roi/hosts.h"

namespace aicf::abi {

template <>
std::span<const KernelInfo> CudaKernels<Family::kRoi>() {
  static const KernelInfo rows[] = {cuda::CudaRow<cuda::RoiBinsHost>(Family::kRoi)};
  return rows;
}

}  // namespace aicf::abi
