/// What is legal for cuda.gemm.hopper: products on Hopper's own tensor-core instructions, fed by
/// the bulk tensor copy engine. The head of gemm/hopper.cuh lists the same conditions from the
/// device's side.
#pragma once

#include <string>
#include <vector>

#include "kernels/cuda/common/host.h"

namespace aicf::cuda {

struct GemmHopperHost : CudaHostBase {
  static constexpr std::string_view kKey = "cuda.gemm.hopper";
  static constexpr std::string_view kSource = "gemm/hopper.cuh";
  static constexpr bool kReadsAhead = true;
  static constexpr bool kTakesBlockScales = true;
  static constexpr bool kSeesMoments = true;
  static constexpr bool kStoresParts = true;
  static constexpr abi::ParameterRange kParameters[] = {
      {"tile_m", 8, 512},  {"tile_n", 8, 512},  {"tile_k", 32, 128}, {"stages", 2, 16},
      {"cluster_m", 1, 8}, {"cluster", 1, 8},   {"consumers", 1, 3}, {"group_m", 1, 1024},
      {"swap", 0, 1},      {"ping_pong", 0, 1}, kVectorRange,        kBlocksRange,
      {"split", 1, 8, 1},     // if absent: every block sums all of k
      {"ahead", 0, 1, 0},     // if absent: nothing is read before the wait
      {"promote", 0, 1, 0}};  // if absent: the tensor cores add up all of k

  /// Nothing but its results is written, and no operand is read where they are.
  static std::string Refusal(const abi::Problem& p, const abi::DeviceSpec& d);
  static std::string Refuse(const abi::Problem& p, const abi::Parameters& c,
                            const abi::DeviceSpec& d);
  static abi::LaunchConfig Launch(const abi::Problem& p, const abi::Parameters& c);
  static std::vector<abi::TensorMap> TensorMaps(const abi::Problem& p, const abi::Parameters& c);
};

/// As GemmHopperHost::Refuse, but tiles may have cut rows (HopperForms), and without "does not take
/// the tile: ". For cuda.gemm.stream_rows.
std::string RefuseCutHopperTile(const abi::Problem& problem, const abi::Parameters& parameters,
                                const abi::DeviceSpec& device);

/// Bytes of shared memory, as gemm/hopper.cuh lays it out.
int64_t HopperSharedBytes(const abi::Problem& problem, const abi::Parameters& parameters);

/// The part of these bytes that the block scales beside each stage take (GemmAttrs::scale_terms); 0
/// without scales.
int64_t HopperScaleBytes(const abi::Problem& problem, int64_t tile_m, int64_t tile_n);

/// Whether the scales of blocks are fetched in whole lines, as BlockScales::kLines in
/// gemm/block_scales.cuh says. REQUIRES: HasBlockScales.
bool FetchesScaleLines(const abi::Problem& problem);

/// The part of these bytes in which consumers keep the moments of their rows; 0 without moments.
int64_t HopperMomentBytes(const abi::Problem& problem, const abi::Parameters& parameters);

/// The part of these bytes in which warps join the moments of parts that they store
/// (gemm/store_parts.cuh); 0 where nothing is joined.
int64_t HopperPartBytes(const abi::Problem& problem, const abi::Parameters& parameters);

}  // namespace aicf::cuda
