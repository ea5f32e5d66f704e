/// cublaslt.matmul: the library row of the gemm family. It takes what DescribeMatmul takes and runs
/// with a recorded algorithm only, which the runtime (runtime/cuda/matmul.h) checks and replays.
#pragma once

#include "kernels/cuda/common/host.h"

namespace aicf::cuda {

inline constexpr std::string_view kLibraryKey = "cublaslt.matmul";

/// The most scratch that an algorithm may use; a step has what its algorithm needs.
inline constexpr uint64_t kLibraryWorkspaceBytes = 32 << 20;

/// The row is no device kernel, hence not made from a host class's functions.
struct LibraryHost {
  static constexpr std::string_view kKey = kLibraryKey;
};
template <>
abi::KernelInfo RowOf<LibraryHost>(abi::Family family);

}  // namespace aicf::cuda
