/// What is legal for cuda.blockgemm.decode: up to 8 rows, so B is read once, packed, and memory is
/// the limit.
#pragma once

#include <optional>
#include <string>

#include "kernels/cuda/blockgemm/packed.h"
#include "kernels/cuda/common/host.h"

namespace aicf::cuda {

struct BlockDecodeHost : CudaHostBase {
  static constexpr std::string_view kKey = "cuda.blockgemm.decode";
  static constexpr std::string_view kSource = "blockgemm/decode.cuh";
  static constexpr bool kPacks = true;
  static constexpr bool kReadsAhead = true;
  static bool ReadsAhead(const abi::Problem& p, size_t input) {
    return input == 1 || (input == 2 && NormalizesRows(p));
  }
  static constexpr bool kNormalizesRows = true;
  /// `along_k` of a block's `warps` share out the chunks of a panel, `cluster` blocks those of all.
  static constexpr abi::ParameterRange kParameters[] = {{"warps", 1, 32},  {"along_k", 1, 32},
                                                        {"stages", 2, 16}, {"cluster", 1, 8},
                                                        kBlocksRange,      {"ahead", 0, 1, 0}};
  /// As many as a fragment has columns.
  static constexpr int64_t kMaxRows = 8;

  static std::string Refusal(const abi::Problem& p, const abi::DeviceSpec& d);
  static std::string Refuse(const abi::Problem& p, const abi::Parameters& c,
                            const abi::DeviceSpec& d);
  static abi::LaunchConfig Launch(const abi::Problem& p, const abi::Parameters& c);
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

/// Bytes of shared memory, as blockgemm/rows.cuh, panel_sums.cuh and decode.cuh lay it out.
int64_t BlockDecodeSharedBytes(const abi::Problem& problem, const abi::Parameters& parameters);

}  // namespace aicf::cuda
