/// cpu.gemm.blis: f32 matrix products with any strides by the BLIS library, for machines with
/// vector units that the kernels of this folder do not support. Host functions in gemm/hosts.h.
///
/// The library takes blocks from its own memory pools, which it fills on first use; later calls
/// allocate nothing. It never starts threads here: rows are split over the caller's threads.
#pragma once

#include "kernels/abi/kernel.h"

namespace aicf::cpu {

void GemmBlis(const abi::ArgBlock& args);

}  // namespace aicf::cpu
