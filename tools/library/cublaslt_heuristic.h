/// The part of cuBLASLt's interface that chooses algorithms. Only the compiler's tools use it: the
/// runtime opens the library without it and replays the algorithm that was recorded.
#pragma once

#include "base/status.h"
#include "compiler/costs/library_algorithms.h"
#include "kernels/cuda/gemm/matmul_layout.h"
#include "runtime/cuda/cublaslt.h"

namespace aicf::tools {

/// The library's first choice among algorithms that give the same bits on every run and accumulate
/// in f32, for operands in buffers placed at multiples of schema::kBufferAlignment.
/// REQUIRES: the device's context is current.
/// Errors: kUnsupported when the library has no algorithm; kDevice.
Result<LibraryAlgorithm> ChooseAlgorithm(const cuda::CublasLt& lt,
                                         const cuda::MatmulLayout& layout);

}  // namespace aicf::tools
