/// What the host classes of the kernels for few rows have in common. These kernels read B once, in
/// packed form, and their time is limited by memory bandwidth.
#pragma once

#include <optional>

#include "kernels/cuda/blockgemm/packed.h"
#include "kernels/cuda/common/host.h"

namespace aicf::cuda {

struct PackedBlocksHost : CudaHostBase {
  static constexpr bool kPacks = true;
  static constexpr bool kReadsAhead = true, kStreamsAhead = true;
  /// `along_k` of a block's `warps` share out the chunks of a panel; the `cluster` blocks of a
  /// cluster share out those of all panels.
  static constexpr abi::ParameterRange kParameters[] = {{"warps", 1, 32},  {"along_k", 1, 32},
                                                        {"stages", 2, 16}, {"cluster", 1, 8},
                                                        kBlocksRange,      {"ahead", 0, 1, 0}};

  static std::optional<abi::PackedLayout> Packed(const abi::Problem& p, const abi::Parameters&,
                                                 int input) {
    return input == 1 ? PackedBlocksLayout(p) : std::nullopt;
  }
  static void Pack(const abi::Problem& p, const abi::Parameters&, int, const void* buffer,
                   void* packed) {
    PackBlocks(p, buffer, packed);
  }
  static void Unpack(const abi::Problem& p, const abi::Parameters&, int, const void* packed,
                     void* buffer) {
    UnpackBlocks(p, packed, buffer);
  }
};

}  // namespace aicf::cuda
