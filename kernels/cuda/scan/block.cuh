// cuda.scan.block: a block scans one line at a time, kItems neighbouring elements per thread. An
// element's result combines the totals of earlier elements of its thread, of earlier threads of its
// warp, of earlier warps, and what the chunks before carry over.
#pragma once

#include "common/block.cuh"
#include "scan/scan.cuh"

namespace aicf {

constexpr int kItems = 4;
constexpr index_t kChunk = static_cast<index_t>(kBlockX) * kItems;
constexpr int kWarps = kBlockX / 32;

/// Inclusive scan over the lanes of a warp.
AICF_DEVICE total_t ScanWarp(total_t own) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const total_t before = __shfl_up_sync(0xffffffffu, own, step);
    if (lane >= step) own = Combine(before, own);
  }
  return own;
}

/// The total of all threads of the block before this one; *all gets the total of the whole block.
AICF_DEVICE total_t ScanBlock(total_t own, total_t* all) {
  __shared__ total_t warps[kWarps];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const total_t within = ScanWarp(own);
  const total_t left = __shfl_up_sync(0xffffffffu, within, 1);
  __syncthreads();  // the totals may still be read for the previous chunk
  if (lane == 31) warps[warp] = within;
  __syncthreads();
  total_t before = kIdentity;
  *all = kIdentity;
#pragma unroll
  for (int w = 0; w < kWarps; ++w) {
    if (w == warp) before = *all;
    *all = Combine(*all, warps[w]);
  }
  return lane == 0 ? before : Combine(before, left);
}

AICF_DEVICE void Kernel(const Args& args) {
  for (index_t line = blockIdx.x; line < kLines; line += kGridX) {
    total_t carry = kIdentity;
    for (index_t chunk = 0; chunk < kLength; chunk += kChunk) {
      const index_t q = chunk + static_cast<index_t>(threadIdx.x) * kItems;
      total_t x[kItems], own = kIdentity, all;
#pragma unroll
      for (int j = 0; j < kItems; ++j) {
        x[j] = q + j < kLength ? LoadPlace(args, q + j, line) : kIdentity;
        own = Combine(own, x[j]);
      }
      total_t total = Combine(carry, ScanBlock(own, &all));
#pragma unroll
      for (int j = 0; j < kItems; ++j) {
        const total_t before = total;
        total = Combine(total, x[j]);
        if (q + j < kLength) StorePlace(args, attr_exclusive ? before : total, q + j, line);
      }
      carry = Combine(carry, all);
    }
  }
}

}  // namespace aicf
