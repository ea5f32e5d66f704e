#include "kernels/cuda/reduce/hosts.h"

namespace aicf::abi {

template <>
std::span<const KernelInfo> CudaKernels<Family::kReduce>() {
  static const KernelInfo rows[] = {cuda::CudaRow<cuda::ReduceRowsHost>(Family::kReduce),
                                    cuda::CudaRow<cuda::ReduceColumnsHost>(Family::kReduce)};
  return rows;
}

}  // namespace aicf::abi
