/// What the predictions of the normalize kernels share.
#pragma once

#include "kernels/cuda/common/choice.h"

namespace aicf::cuda {

/// What the exchange between the blocks of a cluster costs, in us.
inline constexpr double kNormalizeClusterUs = 0.6;

/// How a launch works on a problem.
struct NormalizeWork {
  int64_t threads = 1;  ///< of a block
  int64_t blocks = 1;
  double bytes_share = 0.8;  ///< part of the memory bandwidth that the accesses reach
  double kept = 32;          ///< elements that a thread keeps in registers between the passes
};
double NormalizeUs(const abi::Problem& problem, const abi::DeviceSpec& device,
                   const NormalizeWork& work);

/// Which part of the memory that moves is wanted, where stretches of so many bytes are read here
/// and there: memory moves in sectors of 32 bytes.
double SectorShare(int64_t bytes);

}  // namespace aicf::cuda
