/// What is legal for the roi kernels.
#pragma once

#include "kernels/cuda/common/map_host.h"

namespace aicf::cuda {

struct RoiBinsHost : PointHostBase {
  static constexpr std::string_view kKey = "cuda.roi.bins";
  static constexpr std::string_view kSource = "roi/bins.cuh";
  static constexpr double kFlopsShare = 0.02;
};

/// In order of preference: ties of predicted cost go to the earlier one.
template <>
struct CudaHosts<abi::Family::kRoi> {
  using List = HostList<RoiBinsHost>;
};

}  // namespace aicf::cuda
