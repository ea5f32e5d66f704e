#include "kernels/cuda/sample/hosts.h"

namespace aicf::abi {

template <>
std::span<const KernelInfo> CudaKernels<Family::kSample>() {
  static const KernelInfo rows[] = {cuda::CudaRow<cuda::SampleTapsHost>(Family::kSample)};
  return rows;
}

}  // namespace aicf::abi
