/// What is legal for the pool kernels.
#pragma once

#include "kernels/cuda/common/map_host.h"

namespace aicf::cuda {

struct PoolWindowHost : VectorHostBase {
  static constexpr std::string_view kKey = "cuda.pool.window";
  static constexpr std::string_view kSource = "pool/window.cuh";
};

/// In order of preference: ties of predicted cost go to the earlier one.
template <>
struct CudaHosts<abi::Family::kPool> {
  using List = HostList<PoolWindowHost>;
};

}  // namespace aicf::cuda
