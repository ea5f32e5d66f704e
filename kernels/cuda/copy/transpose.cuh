// cuda.copy.transpose: tiles of 32x32 through shared memory, so that both the side that is
// contiguous in the input and the side that is contiguous in the output move in whole lines.
#pragma once

#include "common/turned.cuh"

namespace aicf {

constexpr int kTile = 32;
static_assert(kBlockX == kTile && kTile % kBlockY == 0, "one thread per tile column");

constexpr index_t kTilesFrom = (In0::extent(kFrom) + kTile - 1) / kTile;
constexpr index_t kTilesTo = (In0::extent(kTo) + kTile - 1) / kTile;

AICF_DEVICE constexpr index_t OuterCount() {
  index_t count = 1;
  for (int d = 0; d < In0::kRank; ++d) {
    if (d != kFrom && d != kTo) count *= In0::extent(d);
  }
  return count;
}

AICF_DEVICE void CopyTile(const Args& args, index_t tile, In0::S (&buffer)[kTile][kTile + 1]) {
  const In0::S* from = static_cast<const In0::S*>(args.in[0]) + In0::kOffset;
  Out0::S* to = static_cast<Out0::S*>(args.out[0]) + Out0::kOffset;
  const index_t a0 = tile % kTilesFrom * kTile;
  const index_t b0 = tile / kTilesFrom % kTilesTo * kTile;
  index_t rest = tile / (kTilesFrom * kTilesTo);
#pragma unroll
  for (int d = In0::kRank - 1; d >= 0; --d) {
    if (d == kFrom || d == kTo) continue;
    const index_t c = rest % In0::extent(d);
    rest /= In0::extent(d);
    from += c * In0::stride(d);
    to += c * Out0::stride(d);
  }
  const int x = threadIdx.x;
#pragma unroll
  for (int y = threadIdx.y; y < kTile; y += kBlockY) {
    if (a0 + x < In0::extent(kFrom) && b0 + y < In0::extent(kTo)) {
      buffer[y][x] = from[(a0 + x) * In0::stride(kFrom) + (b0 + y) * In0::stride(kTo)];
    }
  }
  __syncthreads();
#pragma unroll
  for (int y = threadIdx.y; y < kTile; y += kBlockY) {
    if (a0 + y < In0::extent(kFrom) && b0 + x < In0::extent(kTo)) {
      to[(a0 + y) * Out0::stride(kFrom) + (b0 + x) * Out0::stride(kTo)] = buffer[x][y];
    }
  }
  __syncthreads();
}

AICF_DEVICE void Kernel(const Args& args) {
  __shared__ In0::S buffer[kTile][kTile + 1];
  for (index_t tile = blockIdx.x; tile < kTilesFrom * kTilesTo * OuterCount(); tile += kGridX) {
    CopyTile(args, tile, buffer);
  }
}

}  // namespace aicf
