/// What is legal for the elementwise kernels.
#pragma once

#include "kernels/cuda/common/map_host.h"

namespace aicf::cuda {

struct ElementwiseMapHost : VectorHostBase {
  static constexpr std::string_view kKey = "cuda.elementwise.map";
  static constexpr std::string_view kSource = "elementwise/map.cuh";

  static bool InPlace(const abi::Problem& p, int input) { return SameElements(p, input); }
};

/// In order of preference: ties of predicted cost go to the earlier one.
template <>
struct CudaHosts<abi::Family::kElementwise> {
  using List = HostList<ElementwiseMapHost>;
};

}  // namespace aicf::cuda
