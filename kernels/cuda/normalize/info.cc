#include "kernels/cuda/normalize/hosts.h"

namespace aicf::abi {

template <>
std::span<const KernelInfo> CudaKernels<Family::kNormalize>() {
  static const KernelInfo rows[] = {cuda::CudaRow<cuda::NormalizeRowsHost>(Family::kNormalize),
                                    cuda::CudaRow<cuda::NormalizeColumnsHost>(Family::kNormalize)};
  return rows;
}

}  // namespace aicf::abi
