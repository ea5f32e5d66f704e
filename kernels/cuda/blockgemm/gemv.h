/// What is legal for cuda.blockgemm.gemv, which multiplies few rows. It reads B once, in packed
/// form, and its time is limited by memory bandwidth.
#pragma once

#include <string>

#include "kernels/cuda/blockgemm/packed_host.h"

namespace aicf::cuda {

struct BlockGemvHost : PackedBlocksHost {
  static constexpr std::string_view kKey = "cuda.blockgemm.gemv";
  static constexpr std::string_view kSource = "blockgemm/gemv.cuh";
  /// Most rows of A and most columns of fragments. Beyond these, registers run short, and kernels
  /// with tiles make better use of shared memory.
  static constexpr int64_t kMaxRows = 32, kMaxColumns = 48;

  static std::string Refusal(const abi::Problem& p, const abi::DeviceSpec& d);
  static std::string Refuse(const abi::Problem& p, const abi::Parameters& c,
                            const abi::DeviceSpec& d);
  static abi::LaunchConfig Launch(const abi::Problem& p, const abi::Parameters& c);
};

/// Columns of the fragments: each row of A takes one for each of its 16-bit parts.
int64_t BlockGemvColumns(const abi::Problem& problem);

/// Bytes of shared memory, as blockgemm/vectors.cuh and gemv.cuh lay it out.
int64_t BlockGemvSharedBytes(const abi::Problem& problem, const abi::Parameters& parameters);

}  // namespace aicf::cuda
