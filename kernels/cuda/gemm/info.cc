#include "kernels/cuda/gemm/hopper.h"
#include "kernels/cuda/gemm/hosts.h"
#include "kernels/cuda/gemm/library.h"

namespace aicf::abi {

template <>
std::span<const KernelInfo> CudaKernels<Family::kGemm>() {
  static const KernelInfo rows[] = {
      cuda::LibraryRow(),
      cuda::CudaRow<cuda::GemvHost>(Family::kGemm),
      cuda::CudaRow<cuda::GemmHopperHost>(Family::kGemm),
      cuda::CudaRow<cuda::GemmTiledHost>(Family::kGemm),
      cuda::CudaRow<cuda::GemmTensorHost>(Family::kGemm),
  };
  return rows;
}

}  // namespace aicf::abi
