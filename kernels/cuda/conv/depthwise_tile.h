/// What is legal for cuda.conv.depthwise_tile: depthwise convolutions of images whose inputs meet
/// in shared memory (conv/depthwise_tile.cuh).
#pragma once

#include <string>

#include "kernels/cuda/common/host.h"

namespace aicf::cuda {

/// A block computes tile_h x tile_w positions of tile_c channels, a thread `piece` neighbouring
/// channels of `pixels` neighbouring positions of a row. `pad` is the number of unused elements
/// between the columns of the inputs in shared memory, with which neighbouring threads read
/// different banks.
struct ConvDepthwiseTileHost : CudaHostBase {
  static constexpr std::string_view kKey = "cuda.conv.depthwise_tile";
  static constexpr std::string_view kSource = "conv/depthwise_tile.cuh";
  static constexpr abi::ParameterRange kParameters[] = {{"piece", 1, 8},    {"pixels", 1, 16},
                                                        {"tile_c", 1, 256}, {"tile_w", 1, 256},
                                                        {"tile_h", 1, 256}, {"pad", 0, 64}};

  static std::string Refusal(const abi::Problem& p, const abi::DeviceSpec& d);
  static std::string Refuse(const abi::Problem& p, const abi::Parameters& c,
                            const abi::DeviceSpec& d);
  static abi::LaunchConfig Launch(const abi::Problem& p, const abi::Parameters& c);

  /// Threads that have results. The launch rounds their number up to whole warps.
  static int64_t Workers(const abi::Parameters& c);
  static int64_t Tiles(const abi::Problem& p, const abi::Parameters& c);
  static int64_t SharedBytes(const abi::Problem& p, const abi::Parameters& c);
};

}  // namespace aicf::cuda
