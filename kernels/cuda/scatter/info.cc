#include "kernels/cuda/scatter/hosts.h"

namespace aicf::abi {

template <>
std::span<const KernelInfo> CudaKernels<Family::kScatter>() {
  static const KernelInfo rows[] = {cuda::CudaRow<cuda::ScatterLinesHost>(Family::kScatter),
                                    cuda::CudaRow<cuda::ScatterOwnersHost>(Family::kScatter)};
  return rows;
}

}  // namespace aicf::abi
