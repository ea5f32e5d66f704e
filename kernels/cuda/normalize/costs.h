/// What the cost predictions of the normalize kernels share.
#pragma once

#include "kernels/cuda/common/choice.h"

namespace aicf::cuda {

/// What the exchange between the blocks of a cluster costs, in us.
inline constexpr double kNormalizeClusterUs = 0.6;

/// How a launch works on a problem.
struct NormalizeWork {
  int64_t threads = 1;  ///< of a block
  int64_t blocks = 1;
  double bytes_share = 0.8;   ///< part of the memory bandwidth that the accesses reach
  double kept = 32;           ///< elements that a thread keeps in registers between the passes
  int64_t cluster = 1;        ///< blocks of one
  double registers = 32;      ///< of a thread
  double flops_share = 0.25;  ///< part of the peak that the arithmetic reaches
  double latency_us = 0;      ///< of one block, beside what every kernel has
};
double NormalizeUs(const abi::Problem& problem, const abi::DeviceSpec& device,
                   const NormalizeWork& work);

/// The share of the memory traffic that is useful when stretches of `bytes` bytes are read from
/// scattered places: memory moves in sectors of 32 bytes.
double SectorShare(int64_t bytes);

/// How much longer, in us, a block waits because it reads its part in stretches of `elements`
/// elements. Fitted to an H200 that reads 40 KB in stretches of 40 and of 80 bytes.
double StretchesUs(const abi::Problem& problem, int64_t blocks, int64_t elements);

}  // namespace aicf::cuda
