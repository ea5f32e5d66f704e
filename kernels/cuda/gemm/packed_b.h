/// B of cuda.gemm.tensor in its packed form, for a constant f32 B in math modes fp16 and bf16: the
/// 16-bit values that the products take. As f32, each element passes through a register to be
/// converted on its way into shared memory; packed, the copies of 16 bytes are asynchronous, and B
/// takes half the memory traffic.
///
/// The layout is packed[matrix][k][n]. Matrices are those of the batch; rows are padded with zeros
/// to whole pieces of 16 bytes. Batch axes along which B repeats (stride 0) add no matrices.
/// gemm/packed_b.cuh says the same to the device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kernels/abi/kernel.h"

namespace aicf::cuda {

/// Empty, or why B cannot be packed: goes on after the kernel's key.
std::string RefusePackedB(const abi::Problem& problem);

/// nullopt where there is nothing to pack. REQUIRES: RefusePackedB is empty.
std::optional<abi::PackedLayout> PackedBLayout(const abi::Problem& problem);
/// Bytes by which the packed form is smaller; below 0 where rows are mostly padding.
double PackedBSaves(const abi::Problem& problem);
void PackB(const abi::Problem& problem, const void* buffer, void* packed);
void UnpackB(const abi::Problem& problem, const void* packed, void* buffer);

}  // namespace aicf::cuda
