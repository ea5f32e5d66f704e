/// cublaslt.matmul: the library row of the gemm family. It takes what DescribeMatmul takes and runs
/// with a recorded algorithm only, which the runtime (runtime/cuda/matmul.h) checks and replays.
#pragma once

#include "kernels/cuda/common/host.h"

namespace aicf::cuda {

inline constexpr std::string_view kLibraryKey = "cublaslt.matmul";

/// The most scratch memory that an algorithm may use. A step has as much as its algorithm needs.
inline constexpr uint64_t kLibraryWorkspaceBytes = 32 << 20;

/// The library's row in the registry. It is not a device kernel, so RowOf is specialised for it
/// instead of reading the functions of a host class.
struct LibraryHost {
  static constexpr std::string_view kKey = kLibraryKey;
};
template <>
abi::KernelInfo RowOf<LibraryHost>(abi::Family family);

}  // namespace aicf::cuda
