/// Asks cuBLASLt for an algorithm, as whoever fills a timing cache does; the runtime never does.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "runtime/cuda/cublaslt.h"
#include "runtime/cuda/matmul_layout.h"

namespace aicf::gpu {

/// The library's first choice with at most `workspace_bytes`. `bias` as for
/// MatmulDescriptors::Make.
Result<std::vector<uint8_t>> RecordAlgorithm(const cuda::CublasLt& lt,
                                             const cuda::MatmulLayout& layout, void* bias,
                                             uint64_t workspace_bytes);

}  // namespace aicf::gpu
