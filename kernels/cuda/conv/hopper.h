/// What is legal for cuda.conv.hopper: convolutions as products on Hopper's own tensor-core
/// instructions, fed by the bulk tensor copy engine (conv/hopper.cuh).
#pragma once

#include <string>
#include <vector>

#include "kernels/cuda/common/host.h"

namespace aicf::cuda {

struct ConvHopperHost : CudaHostBase {
  static constexpr std::string_view kKey = "cuda.conv.hopper";
  static constexpr std::string_view kSource = "conv/hopper.cuh";
  static constexpr abi::ParameterRange kParameters[] = {
      {"tile_m", 8, 512},    {"tile_n", 8, 512},  {"tile_k", 8, 128}, {"tile_w", 1, 256},
      {"tile_h", 1, 256},    {"tile_b", 1, 256},  {"flat", 0, 1},     {"stages", 2, 32},
      {"split", 1, 8},       {"consumers", 1, 3}, {"swap", 0, 1},     {"ping_pong", 0, 1},
      kVectorRange,          kBlocksRange,        {"ahead", 0, 1, 0}, {"promote", 0, 1, 0},
      {"held_b", 0, 1024, 0}};  // if absent: blocks fetch weights with every stage
  static constexpr bool kReadsAhead = true;

  /// Nothing but its results is written, and no operand is read where they are.
  static std::string Refusal(const abi::Problem& p, const abi::DeviceSpec& d);
  static std::string Refuse(const abi::Problem& p, const abi::Parameters& c,
                            const abi::DeviceSpec& d);
  static abi::LaunchConfig Launch(const abi::Problem& p, const abi::Parameters& c);
  static std::vector<abi::TensorMap> TensorMaps(const abi::Problem& p, const abi::Parameters& c);
};

/// Bytes of shared memory, as common/hopper_product.cuh lays it out.
int64_t ConvHopperSharedBytes(const abi::Parameters& parameters, int64_t element_bytes);

/// Whether the convolution is one product of matrices: it has one tap with stride 1 and no padding,
/// and one stride walks all positions of all images.
bool IsFlatConv(const abi::Problem& problem);

/// Output positions along the last spatial axis, along the one before it (1 where there is none),
/// and images. Where the convolution is taken as flat, `w` is all positions of all images, and the
/// others are 1.
struct ConvPositions {
  int64_t w, h, b;
};
ConvPositions PositionsOf(const abi::Problem& problem, bool flat);
/// Tiles of the output, and steps of tile_k along k.
int64_t ConvHopperTiles(const abi::Problem& problem, const abi::Parameters& parameters);
int64_t ConvHopperSteps(const abi::Problem& problem, const abi::Parameters& parameters);
/// Tiles of tile_n columns and tile_k of k that all weights make.
int64_t ConvHopperWeightTiles(const abi::Problem& problem, const abi::Parameters& parameters);

}  // namespace aicf::cuda
