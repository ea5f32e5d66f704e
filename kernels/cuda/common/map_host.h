/// Host functions shared by kernels in which a thread computes one or a few neighbouring results.
#pragma once

#include <algorithm>

#include "kernels/cuda/common/host.h"

namespace aicf::cuda {

inline constexpr int kMapThreads = 128;
inline constexpr int64_t kMapMaxGrid = 1 << 20;

/// Threads for one result each. Vector kernels leave some of them without work, which costs nothing
/// that shows; the grid must not depend on what the device code finds out about alignment.
inline abi::LaunchConfig LaunchMap(const abi::Problem& p, int vector) {
  const int64_t per_block = int64_t{kMapThreads} * vector;
  return Launch1d(GridFor(abi::ElementsOf(p.outputs[0]), per_block, kMapMaxGrid), kMapThreads);
}

inline double MapUs(const abi::Problem& p, const abi::DeviceSpec& d, double flops_share) {
  return PredictUs({.bytes = abi::ByteCount(p),
                    .flops = abi::FlopCount(p),
                    .flops_per_us = d.fp32_flops_per_us * flops_share,
                    .bytes_share = 0.6,
                    .blocks = static_cast<double>(LaunchMap(p, 1).grid[0]),
                    .latency_us = 1.0,
                    .blocks_per_sm = 16},
                   d);
}

}  // namespace aicf::cuda
