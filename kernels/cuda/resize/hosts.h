/// What is legal for the resize kernels.
#pragma once

#include "kernels/cuda/common/map_host.h"

namespace aicf::cuda {

/// `vector` neighbouring results per thread, where the operands allow it.
struct ResizeTapsHost : CudaHostBase {
  static constexpr std::string_view kKey = "cuda.resize.taps";
  static constexpr std::string_view kSource = "resize/taps.cuh";
  static constexpr abi::ParameterRange kParameters[] = {
      kThreadsRange, kBlocksRange, {"vector", 1, kMaxVector, 1}};

  static std::string Refuse(const abi::Problem& p, const abi::Parameters& given,
                            const abi::DeviceSpec& d) {
    const abi::WholeParameters c(given, kParameters);
    return VectorHostBase::Refuse(p, c, d);
  }
  static abi::LaunchConfig Launch(const abi::Problem&, const abi::Parameters& c) {
    return Launch1d(c["blocks"], c["threads"]);
  }
};

/// In order of preference: ties of predicted cost go to the earlier one.
template <>
struct CudaHosts<abi::Family::kResize> {
  using List = HostList<ResizeTapsHost>;
};

}  // namespace aicf::cuda
