// cuda.dequantize.panels: the values of a matrix of blocks that lies in the packed form of the
// blockgemm kernels (blockgemm/packed.h), so that those and a product of plain values share one
// copy. A warp takes a chunk of 16 rows: it loads all codes by 16 bytes, and stores the neighbours
// of a row that a lane has at once, eight or, where 16 elements share a scale, four.
//
// Illegal, and for the host to refuse: an output of other than two axes, or whose rows do not lie
// along its innermost axis; blocks of single elements.
#pragma once

#include "common/enums.cuh"

namespace aicf {

constexpr int kFormat = static_cast<int>(attr_format);
static_assert(Out0::kRank == 2, "a matrix");
constexpr index_t kColumns = Out0::extent(0);
constexpr index_t kLength = Out0::extent(1);

}  // namespace aicf

// What follows is made of the matrix.
#include "blockgemm/packed_eight.cuh"

namespace aicf {

constexpr int kWarpsOfBlock = kBlockX / 32;
constexpr int kTogether = Chunk::kGroup == 16 ? 4 : 8;

/// A lane's part of row `row` of the matrix, half 0 or 1 of those that the lane has of a chunk,
/// which begins at element k0.
AICF_DEVICE void StoreRow(const Args& args, const LaneCodes& codes, const char* chunk, int half,
                          index_t row, index_t k0) {
  if (row >= kColumns) return;
  const RowPairs pairs(chunk, static_cast<int>(row % 16));
#pragma unroll
  for (int run = 0; run < Chunk::kRuns; ++run) {
    if (k0 + run * 32 >= kLength) break;
    PackedEight eight;
    eight.Take(codes, pairs, half, run);
    float values[8];
    eight.Decode(half * 8, run, values);
#pragma unroll
    for (int e = 0; e < 8; e += kTogether) {
      const index_t k = k0 + run * 32 + ElementOfLane(threadIdx.x % 4, e);
      raw_t raw[kTogether];
#pragma unroll
      for (int j = 0; j < kTogether; ++j) raw[j] = values[e + j];
      if (k < kLength) Epilogue::Store<kTogether>(args, raw, row * kLength + k);
    }
  }
}

AICF_DEVICE void Kernel(const Args& args) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const index_t first = static_cast<index_t>(blockIdx.x) * kWarpsOfBlock + threadIdx.x / 32;
  for (index_t c = first; c < kPanels * kChunks; c += kGridX * kWarpsOfBlock) {
    const char* chunk = ChunkAt(args.in[0], c / kChunks, c % kChunks);
    const LaneCodes codes(chunk, lane);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      StoreRow(args, codes, chunk, half, c / kChunks * 16 + half * 8 + lane / 4,
               c % kChunks * Chunk::kDepth);
    }
  }
}

}  // namespace aicf
