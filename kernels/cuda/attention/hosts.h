/// What is legal for the attention kernels.
#pragma once

#include <algorithm>

#include "kernels/abi/attention.h"
#include "kernels/cuda/attention/hopper.h"
#include "kernels/cuda/common/host.h"

namespace aicf::cuda {

/// What all attention kernels but cuda.attention.hopper share: they pack the rows of all query
/// heads that read one key head, and give a tile of them to a block.
struct AttentionHostBase : CudaHostBase {
  static constexpr int64_t kMaxHead = 256;

  static int64_t PackedRows(const abi::AttentionShape& s) { return s.rows * s.group(); }
  static int64_t Tiles(const abi::AttentionShape& s, int64_t rows) {
    return std::max<int64_t>(1, s.batch * s.key_heads * CeilDiv(PackedRows(s), rows));
  }
  /// The result never takes an operand's place: other rows still read what a row would overwrite.
  static bool InPlace(const abi::Problem&, int) { return false; }
  static std::string RefuseHeads(const abi::Problem& p);
  /// Empty, or why a block of this launch does not fit.
  static std::string RefuseLaunch(const abi::LaunchConfig& launch, int64_t tiles,
                                  const abi::DeviceSpec& device);
};

/// attention/tensor.cuh: a warp keeps 16 rows; `key_warps` groups of `warps` warps have the same
/// rows and divide their keys.
struct AttentionTensorHost : AttentionHostBase {
  static constexpr std::string_view kKey = "cuda.attention.tensor";
  static constexpr std::string_view kSource = "attention/tensor.cuh";
  static constexpr int64_t kWarpRows = 16;
  static constexpr int64_t kMaxBlockWarps = 16;
  static constexpr abi::ParameterRange kParameters[] = {{"warps", 1, 8}, {"key_warps", 1, 8, 1}};

  static int64_t KeyWarps(const abi::Parameters& c) {
    return c.Has("key_warps") ? c["key_warps"] : 1;
  }
  /// Keys of one turn of a warp.
  static int64_t Step(const abi::Problem& p) { return p.math == abi::MathMode::kTf32 ? 32 : 64; }

  static std::string Refusal(const abi::Problem& p, const abi::DeviceSpec& d);
  static std::string Refuse(const abi::Problem& p, const abi::Parameters& c,
                            const abi::DeviceSpec& d);
  static abi::LaunchConfig Launch(const abi::Problem& p, const abi::Parameters& c);
};

/// attention/decode.cuh: few rows of 16 bits against many keys, which `split` blocks of `warps`
/// warps divide among them; a warp requests `stages` - 1 tiles of `tile_keys` keys ahead. Where the
/// step appends rows, the first block of the cluster with the first tile of their key head stores
/// them. `room` is the least shared memory of a block in KiB, 0: as much as it needs.
struct AttentionDecodeHost : AttentionHostBase {
  static constexpr std::string_view kKey = "cuda.attention.decode";
  static constexpr std::string_view kSource = "attention/decode.cuh";
  static constexpr int64_t kRows = 16, kPiece = 8;
  static constexpr int64_t kMaxRows = 64;  ///< every 16 of them read all keys again
  static constexpr int64_t kMaxKeys = int64_t{1} << 30;
  static constexpr abi::ParameterRange kParameters[] = {{"split", 1, 16},   {"warps", 1, 8},
                                                        {"stages", 2, 8},   {"tile_keys", 16, 32},
                                                        {"ahead", 0, 1, 0}, {"room", 0, 227, 0}};

  static constexpr bool kAppendsRows = true;

  /// Pools are appended to in place: what is read of a row that is appended is not used.
  static bool InPlace(const abi::Problem& p, int input);
  /// Lengths, table and origins may be read ahead: they say which keys there are and where they
  /// lie. So may the pools of a step that appends.
  static constexpr bool kReadsAhead = true, kStreamsAhead = true;
  static bool ReadsAhead(const abi::Problem& p, size_t input);
  /// Dynamic shared memory, and beside it the static: bits for the keys of each stage.
  static int64_t SharedBytes(const abi::AttentionShape& s, const abi::Parameters& c);
  static int64_t StaticBytes(const abi::Problem& p, const abi::Parameters& c);
  static std::string Refusal(const abi::Problem& p, const abi::DeviceSpec& d);
  static std::string Refuse(const abi::Problem& p, const abi::Parameters& c,
                            const abi::DeviceSpec& d);
  static abi::LaunchConfig Launch(const abi::Problem& p, const abi::Parameters& c);
};

/// attention/general.cuh: any precision; a thread keeps 4 rows.
struct AttentionGeneralHost : AttentionHostBase {
  static constexpr std::string_view kKey = "cuda.attention.general";
  static constexpr std::string_view kSource = "attention/general.cuh";
  static constexpr int64_t kThreadRows = 4, kStep = 32;
  static constexpr int64_t kLeastRows = 8;
  static constexpr abi::ParameterRange kParameters[] = {{"tile_rows", kLeastRows, 64}};

  static std::string Refusal(const abi::Problem& p, const abi::DeviceSpec& d);
  static std::string Refuse(const abi::Problem& p, const abi::Parameters& c,
                            const abi::DeviceSpec& d);
  static abi::LaunchConfig Launch(const abi::Problem& p, const abi::Parameters& c);
};

/// In order of preference: ties of predicted cost go to the earlier one.
template <>
struct CudaHosts<abi::Family::kAttention> {
  using List =
      HostList<AttentionHopperHost, AttentionDecodeHost, AttentionTensorHost, AttentionGeneralHost>;
};

}  // namespace aicf::cuda
