/// What the products on Hopper's own instructions share about legality: operands and tiles, as
/// common/hopper_stage.cuh has them.
#pragma once

#include <string>

#include "kernels/abi/parameters.h"
#include "kernels/abi/problem.h"

namespace aicf::cuda {

/// Whether both operands are bf16 in math mode bf16, f16 in fp16, or f32 in tf32.
bool IsHopperProduct(const abi::Problem& problem);

/// Empty, or why tensor cores do not take the tile of tile_m, tile_n, tile_k, consumers, swap and
/// ping_pong. Columns in sevens (56, 112 and 224) are for results that turn: the output is
/// contiguous along the tensor cores' rows.
std::string RefuseHopperTile(const abi::Parameters& parameters, int64_t element_bytes,
                             bool takes_sevens);

/// Bytes of one stage: both operands' tiles, in whole swizzle patterns.
int64_t HopperStageBytes(const abi::Parameters& parameters, int64_t element_bytes);

/// Bytes of one consumer for its results: what its warps turn or, where `split` blocks of a cluster
/// share k, what each of them sends of 64 rows and columns, and barriers. Blocks share out the
/// lines of results, each of which is made of the sums of all `halves`.
int64_t HopperStoreBytes(int64_t split, int64_t halves = 1);

}  // namespace aicf::cuda
