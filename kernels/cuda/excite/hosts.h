/// What is legal for the excite kernel.
#pragma once

#include "kernels/cuda/common/host.h"

namespace aicf::cuda {

/// How an image is cut; cluster.cuh derives the same from its constants.
struct ExciteCut {
  int64_t lanes = 0;  ///< threads along a block's channels
  int64_t lines = 0;  ///< positions of a block at a time; 0: too few threads
  int64_t slice = 0;  ///< channels of a block
  int64_t shared_bytes = 0;

  ExciteCut(const abi::Problem& p, const abi::Parameters& c);
};

/// One cluster of `channel_parts` x `position_parts` blocks per image. The blocks read the image
/// once if their registers suffice to keep it.
struct ExciteClusterHost : CudaHostBase {
  static constexpr std::string_view kKey = "cuda.excite.cluster";
  static constexpr std::string_view kSource = "excite/cluster.cuh";
  static constexpr int64_t kMostParts = 16;
  static constexpr abi::ParameterRange kParameters[] = {{"channel_parts", 1, kMostParts},
                                                        {"position_parts", 1, kMostParts},
                                                        {"vector", 1, kMaxVector},
                                                        kThreadsRange};

  /// The widest vector of neighbouring channels that x has, within 16 bytes; it divides the
  /// channels.
  static int64_t WidestVectorOf(const abi::Problem& p);
  static std::string Refusal(const abi::Problem& p, const abi::DeviceSpec& d);
  static std::string Refuse(const abi::Problem& p, const abi::Parameters& c,
                            const abi::DeviceSpec& d);
  static abi::LaunchConfig Launch(const abi::Problem& p, const abi::Parameters& c);
};

/// In order of preference: ties of predicted cost go to the earlier one.
template <>
struct CudaHosts<abi::Family::kExcite> {
  using List = HostList<ExciteClusterHost>;
};

}  // namespace aicf::cuda
