/// What is legal for the resize kernels.
#pragma once

#include "kernels/cuda/common/map_host.h"

namespace aicf::cuda {

struct ResizeTapsHost : PointHostBase {
  static constexpr std::string_view kKey = "cuda.resize.taps";
  static constexpr std::string_view kSource = "resize/taps.cuh";
  static constexpr double kFlopsShare = 0.05;
};

/// In order of preference: ties of predicted cost go to the earlier one.
template <>
struct CudaHosts<abi::Family::kResize> {
  using List = HostList<ResizeTapsHost>;
};

}  // namespace aicf::cuda
