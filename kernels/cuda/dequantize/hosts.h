/// What is legal for the dequantize kernel.
#pragma once

#include "kernels/cuda/common/map_host.h"

namespace aicf::cuda {

struct DequantizeMapHost : VectorHostBase {
  static constexpr std::string_view kKey = "cuda.dequantize.map";
  static constexpr std::string_view kSource = "dequantize/map.cuh";
};

/// In order of preference: ties of predicted cost go to the earlier one.
template <>
struct CudaHosts<abi::Family::kDequantize> {
  using List = HostList<DequantizeMapHost>;
};

}  // namespace aicf::cuda
