/// What is legal for cuda.gemm.stream: products with one row, whose weights stream through a ring
/// of stages in shared memory. The head of gemm/stream.cuh lists the same conditions from the
/// device's side.
#pragma once

#include <string>

#include "kernels/cuda/common/host.h"

namespace aicf::cuda {

struct GemmStreamHost : CudaHostBase {
  static constexpr std::string_view kKey = "cuda.gemm.stream";
  static constexpr std::string_view kSource = "gemm/stream.cuh";
  /// So few blocks that 32-bit indices have room for all stages that a block looks ahead.
  static constexpr int64_t kMostBlocks = 65536;
  static constexpr int64_t kMostWarps = 16;  ///< of a group
  static constexpr abi::ParameterRange kParameters[] = {
      {"columns", 1, 32},       {"stages", 2, 64},          {"flight", 1, 64}, {"groups", 1, 8},
      {"warps", 1, kMostWarps}, {"blocks", 1, kMostBlocks}, {"ahead", 0, 1, 0}};
  static constexpr bool kReadsAhead = true, kStreamsAhead = true;
  static constexpr bool kNormalizesRows = true;

  static std::string Refusal(const abi::Problem& p, const abi::DeviceSpec& d);
  static std::string Refuse(const abi::Problem& p, const abi::Parameters& c,
                            const abi::DeviceSpec& d);
  static abi::LaunchConfig Launch(const abi::Problem& p, const abi::Parameters& c);

  /// Whether the lanes of so many warps, which divide k, have registers for the row.
  static bool HoldsRow(const abi::Problem& p, int64_t warps);
};

/// Bytes of a column of B. REQUIRES: the host takes the problem.
int64_t StreamColumnBytes(const abi::Problem& problem);

}  // namespace aicf::cuda
