/// cublaslt.matmul: the library row of the gemm family. It runs with a recorded algorithm only; the
/// runtime (runtime/cuda/matmul.h) describes the product to the library and checks the algorithm.
#pragma once

#include "kernels/abi/kernel.h"

namespace aicf::cuda {

/// Scratch that recorded algorithms may use.
inline constexpr uint64_t kLibraryWorkspaceBytes = 32 << 20;

abi::KernelInfo LibraryRow();

}  // namespace aicf::cuda
