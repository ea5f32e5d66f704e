#include "kernels/cuda/scan/hosts.h"

namespace aicf::abi {

template <>
std::span<const KernelInfo> CudaKernels<Family::kScan>() {
  static const KernelInfo rows[] = {cuda::CudaRow<cuda::ScanBlockHost>(Family::kScan),
                                    cuda::CudaRow<cuda::ScanLinesHost>(Family::kScan)};
  return rows;
}

}  // namespace aicf::abi
