/// What is legal for all products on Hopper's own instructions: the operands and tiles that
/// common/hopper_stage.cuh takes.
#pragma once

#include <string>

#include "kernels/abi/parameters.h"
#include "kernels/abi/problem.h"

namespace aicf::cuda {

/// Empty, or why the tensor cores do not multiply operands of these types: both are bf16 in math
/// mode bf16, f16 in fp16, f32 in tf32, one float8 type of e4m3 or e5m2 in fp8, or each is i8 or
/// u8.
std::string RefuseHopperTypes(const abi::Problem& problem);

/// Tiles that are allowed beside the usual ones, both for outputs that are contiguous along the
/// tensor cores' rows.
struct HopperForms {
  bool sevens = false;    ///< multiples of seven columns: 112, 224 and, but for 8 bits, 56
  bool cut_rows = false;  ///< with swap and one consumer, any multiple of 16 rows instead of 64
};
/// Empty, or why tensor cores do not take the tile of tile_m, tile_n, tile_k, consumers, swap,
/// ping_pong and promote for operands of this dtype.
std::string RefuseHopperTile(const abi::Parameters& parameters, DType operands, HopperForms forms);

/// Whether a block with `steps` steps of k should add the sums of every stage, of 128 elements of
/// k, in f32 (1), or the tensor cores should add up all of k by themselves (0). They keep some 14
/// bits of sums of float8, which for up to 8192 terms costs less than the rounding of a single
/// operand does: 1 for float8 with more terms. With scales of blocks always 1.
int64_t HopperPromotion(const abi::Problem& problem, int64_t steps);

/// Results that a thread stores at once: `usual`, or at least 8 where all results are single bytes.
/// The usual number follows from the widest operand, which would make tiny stores of bytes.
int64_t HopperVector(const abi::Problem& problem, int64_t usual);

/// Bytes of one stage: the tiles of both operands, rounded up to whole swizzle patterns.
int64_t HopperStageBytes(const abi::Parameters& parameters, int64_t element_bytes);

/// Bytes of shared memory in which one consumer makes results of its sums. It has room for what its
/// warps transpose or, where `split` blocks of a cluster share k, for what each of them sends of 64
/// rows and columns, and for barriers. Blocks share out the lines of results, each of which is made
/// of the sums of all `halves`.
int64_t HopperStoreBytes(int64_t split, int64_t halves = 1);

}  // namespace aicf::cuda
