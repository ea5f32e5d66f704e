/// What is legal for the sample kernels.
#pragma once

#include "kernels/cuda/common/map_host.h"

namespace aicf::cuda {

struct SampleTapsHost : PointHostBase {
  static constexpr std::string_view kKey = "cuda.sample.taps";
  static constexpr std::string_view kSource = "sample/taps.cuh";
  static constexpr double kFlopsShare = 0.05;
};

/// In order of preference: ties of predicted cost go to the earlier one.
template <>
struct CudaHosts<abi::Family::kSample> {
  using List = HostList<SampleTapsHost>;
};

}  // namespace aicf::cuda
