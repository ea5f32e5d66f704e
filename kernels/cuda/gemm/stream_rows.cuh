// cuda.gemm.stream_rows: products with few rows, whose weights stream through shared memory. It is
// cuda.gemm.hopper (gemm/hopper.cuh) in one form, for products between those of one row, which
// cuda.gemm.stream has, and large ones. Tiles have all rows of A, so that B is read once. The
// tensor cores' rows run along n. Every block, or every cluster of blocks that divide k, has one
// tile. The tiles are to fill the device (gemm/stream_rows_choice.cc), so their number of columns
// may be any multiple of 16, and the tensor cores' last block of 64 rows may be cut (kCutsRows).
//
// Memory is what these products wait for, and in a chain of them it hardly rests. A block starts as
// soon as the block before it has left the multiprocessor, and with kAhead it asks for as much of B
// as its stages hold while it waits for A. To that end blocks let the next kernel start before they
// wait (AICF_STREAMS). Larger products do so behind their wait: they take longer than it takes to
// fill the next kernel's stages, and waiting blocks would keep room from those that still work.
//
// The instance defines, beside what compiler/codegen/cuda_source.h lists, kTileM, kTileN, kStages,
// kSplit and kAhead (gemm/hopper.cuh).
//
// Illegal, and for the host to refuse: what gemm/hopper.cuh lists, and operands of 8 bits, a batch
// of several products, more rows than kTileM, and moments that are not made of parts.
// Grid: the number of tiles times kSplit.
#pragma once

#define AICF_STREAMS

namespace aicf {
constexpr int kTileK = 128 / static_cast<int>(sizeof(In1::S));
constexpr int kClusterM = 1, kConsumers = 1, kGroupM = 1, kSwap = 1, kPingPong = 0, kPromote = 0;
}  // namespace aicf

#include "gemm/hopper.cuh"

namespace aicf {
static_assert(TileWalk::kOne && TileWalk::kTilesM == 1, "B is read once");
}
