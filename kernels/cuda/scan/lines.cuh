// cuda.scan.lines: one line per thread, elements loaded a few ahead of their use.
#pragma once

#include "scan/scan.cuh"

namespace aicf {

constexpr int kAhead = 8;

AICF_DEVICE void Kernel(const Args& args) {
  const index_t first = static_cast<index_t>(blockIdx.x) * kBlockX + threadIdx.x;
  for (index_t line = first; line < kLines; line += kGridX * kBlockX) {
    total_t total = kIdentity;
    for (index_t q = 0; q < kLength; q += kAhead) {
      total_t x[kAhead];
#pragma unroll
      for (int j = 0; j < kAhead; ++j) {
        x[j] = q + j < kLength ? LoadPlace(args, q + j, line) : kIdentity;
      }
#pragma unroll
      for (int j = 0; j < kAhead; ++j) {
        const total_t before = total;
        total = Combine(total, x[j]);
        if (q + j < kLength) StorePlace(args, attr_exclusive ? before : total, q + j, line);
      }
    }
  }
}

}  // namespace aicf
