/// What the products on Hopper's own instructions share about legality: operands and tiles, as
/// common/hopper_stage.cuh has them.
#pragma once

#include <string>

#include "kernels/abi/parameters.h"
#include "kernels/abi/problem.h"

namespace aicf::cuda {

/// Empty, or why the tensor cores do not multiply operands of these types: both are bf16 in math
/// mode bf16, f16 in fp16, f32 in tf32, one float8 type of e4m3 or e5m2 in fp8, or each is i8 or
/// u8.
std::string RefuseHopperTypes(const abi::Problem& problem);

/// Empty, or why tensor cores do not take the tile of tile_m, tile_n, tile_k, consumers, swap,
/// ping_pong and promote for operands of this dtype. Columns in sevens (56, but not of operands of
/// 8 bits, 112 and 224) are for results that turn: the output is contiguous along the tensor cores'
/// rows.
std::string RefuseHopperTile(const abi::Parameters& parameters, DType operands, bool takes_sevens);

/// Float8: 1 where the sums of every stage, of 128 elements of k, should be added in f32, for a
/// block with so many steps of k; 0: the tensor cores add up all of it themselves, in sums of which
/// they keep some 14 bits. Up to 8192 terms that costs less than the rounding of a single operand
/// does. With scales of blocks always 1.
int64_t HopperPromotion(const abi::Problem& problem, int64_t steps);

/// Results of a thread's store: `usual`, or more where all results are single bytes, of which the
/// width of another operand's elements would make tiny stores.
int64_t HopperVector(const abi::Problem& problem, int64_t usual);

/// Bytes of one stage: both operands' tiles, in whole swizzle patterns.
int64_t HopperStageBytes(const abi::Parameters& parameters, int64_t element_bytes);

/// Bytes of one consumer for its results: what its warps turn or, where `split` blocks of a cluster
/// share k, what each of them sends of 64 rows and columns, and barriers. Blocks share out the
/// lines of results, each of which is made of the sums of all `halves`.
int64_t HopperStoreBytes(int64_t split, int64_t halves = 1);

}  // namespace aicf::cuda
