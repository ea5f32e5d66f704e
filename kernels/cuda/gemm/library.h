/// cublaslt.matmul: the library row of the gemm family. It takes what DescribeMatmul takes and runs
/// with a recorded algorithm only, which the runtime (runtime/cuda/matmul.h) checks and replays.
#pragma once

#include "kernels/abi/kernel.h"

namespace aicf::cuda {

inline constexpr std::string_view kLibraryKey = "cublaslt.matmul";

/// The most scratch that an algorithm may use; a step has what its algorithm needs.
inline constexpr uint64_t kLibraryWorkspaceBytes = 32 << 20;

abi::KernelInfo LibraryRow();

}  // namespace aicf::cuda
