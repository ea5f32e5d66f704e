/// What is legal for cuda.blockgemm.decode, which multiplies up to 8 rows. It reads B once, in
/// packed form, and its time is limited by memory bandwidth.
#pragma once

#include <string>

#include "kernels/cuda/blockgemm/packed_host.h"

namespace aicf::cuda {

struct BlockDecodeHost : PackedBlocksHost {
  static constexpr std::string_view kKey = "cuda.blockgemm.decode";
  static constexpr std::string_view kSource = "blockgemm/decode.cuh";
  static constexpr bool kNormalizesRows = true;
  /// A fragment has this many columns.
  static constexpr int64_t kMaxRows = 8;
  /// As for PackedBlocksHost, and `integers`: the row becomes integers; `batch`: turns after which
  /// warps meet; `early`: with `ahead`, stages that are asked for before the rows are, 0: all;
  /// `apart`: with `integers`, every warp brings what it multiplies of the row for itself. Older
  /// artifacts lack these.
  static constexpr abi::ParameterRange kParameters[] = {
      {"warps", 1, 32},    {"along_k", 1, 32}, {"stages", 2, 16},     {"cluster", 1, 8},
      kBlocksRange,        {"ahead", 0, 1, 0}, {"integers", 0, 1, 0}, {"batch", 1, 16, 1},
      {"early", 0, 16, 0}, {"apart", 0, 1, 0}};

  /// Empty, or why the rows of A do not become integers (blockgemm/panel_integers.cuh).
  static std::string RefuseIntegers(const abi::Problem& p);
  static std::string Refusal(const abi::Problem& p, const abi::DeviceSpec& d);
  static std::string Refuse(const abi::Problem& p, const abi::Parameters& c,
                            const abi::DeviceSpec& d);
  static abi::LaunchConfig Launch(const abi::Problem& p, const abi::Parameters& c);
};

/// Bytes of shared memory, as blockgemm/staged_rows.cuh, integer_rows.cuh and decode.cuh lay it
/// out.
int64_t BlockDecodeSharedBytes(const abi::Problem& problem, const abi::Parameters& parameters);

/// Bytes of the part of a row of integers that a block of a cluster of `cluster` blocks multiplies.
int64_t BlockDecodeRowBytes(const abi::Problem& problem, int64_t cluster);

}  // namespace aicf::cuda
