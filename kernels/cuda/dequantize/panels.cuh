// cuda.dequantize.panels: decodes a matrix of blocks that is stored in the packed form of the
// blockgemm kernels (blockgemm/packed.h), so that these kernels and a product of plain values can
// share one copy. A warp takes a chunk of 16 rows. It loads all codes in pieces of 16 bytes. The
// neighbouring elements that a lane has of a row are stored at once: eight or, where 16 elements
// share a scale, four.
//
// The host refuses what this kernel cannot do: an output with other than two axes, an output whose
// innermost axis is not along the rows of blocks, and blocks of single elements.
#pragma once

#include "common/enums.cuh"

namespace aicf {

constexpr int kFormat = static_cast<int>(attr_format);
static_assert(Out0::kRank == 2, "a matrix");
constexpr index_t kColumns = Out0::extent(0);
constexpr index_t kLength = Out0::extent(1);

}  // namespace aicf

// The header below uses kFormat, kColumns and kLength.
#include "blockgemm/packed_eight.cuh"

namespace aicf {

constexpr int kWarpsOfBlock = kBlockX / 32;
constexpr int kTogether = Chunk::kGroup == 16 ? 4 : 8;

/// Decodes and stores a lane's part of row `row` of the matrix. The lane has two rows of the chunk,
/// of which this is number `half`; the chunk begins at element k0 of its rows.
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
