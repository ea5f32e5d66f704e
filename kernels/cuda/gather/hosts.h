/// What is legal for the gather kernels.
#pragma once

#include "kernels/cuda/common/map_host.h"

namespace aicf::cuda {

struct GatherMapHost : VectorHostBase {
  static constexpr std::string_view kKey = "cuda.gather.map";
  static constexpr std::string_view kSource = "gather/map.cuh";
};

/// In order of preference: ties of predicted cost go to the earlier one.
template <>
struct CudaHosts<abi::Family::kGather> {
  using List = HostList<GatherMapHost>;
};

}  // namespace aicf::cuda
