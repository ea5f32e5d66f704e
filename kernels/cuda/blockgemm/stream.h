/// What is legal for cuda.blockgemm.stream: the product of one row of integers, whose packed
/// weights stream through a ring of stages in shared memory. The head of blockgemm/stream.cuh lists
/// the same conditions from the device's side.
#pragma once

#include <string>

#include "kernels/cuda/blockgemm/packed_host.h"

namespace aicf::cuda {

struct BlockStreamHost : PackedBlocksHost {
  static constexpr std::string_view kKey = "cuda.blockgemm.stream";
  static constexpr std::string_view kSource = "blockgemm/stream.cuh";
  static constexpr bool kNormalizesRows = true;
  /// So few blocks that 32-bit indices have room for the panels that a block walks through.
  static constexpr int64_t kMostBlocks = 65536;
  /// `warps` share out the chunks of a panel; a stage has one for each, and `flight` stages may be
  /// on their way.
  static constexpr abi::ParameterRange kParameters[] = {{"warps", 2, 30},
                                                        {"stages", 2, 64},
                                                        {"flight", 1, 64},
                                                        {"blocks", 1, kMostBlocks},
                                                        {"ahead", 0, 1, 0}};

  static std::string Refusal(const abi::Problem& p, const abi::DeviceSpec& d);
  static std::string Refuse(const abi::Problem& p, const abi::Parameters& c,
                            const abi::DeviceSpec& d);
  static abi::LaunchConfig Launch(const abi::Problem& p, const abi::Parameters& c);
};

/// Bytes of shared memory, as PanelRing of blockgemm/stream.cuh lays it out.
int64_t BlockStreamSharedBytes(const abi::Problem& problem, const abi::Parameters& parameters);

}  // namespace aicf::cuda
