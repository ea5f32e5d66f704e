/// What is legal for the elementwise kernels.
#pragma once

#include "kernels/cuda/common/map_host.h"

namespace aicf::cuda {

/// `unroll` vectors per thread, each a block's width from the next.
struct ElementwiseMapHost : CudaHostBase {
  static constexpr std::string_view kKey = "cuda.elementwise.map";
  static constexpr std::string_view kSource = "elementwise/map.cuh";
  static constexpr abi::ParameterRange kParameters[] = {kVectorRange, kThreadsRange, kBlocksRange,
                                                        kUnrollRange};

  static std::string Refuse(const abi::Problem& p, const abi::Parameters& given,
                            const abi::DeviceSpec& d) {
    const abi::Parameters c = abi::Completed(given, kParameters);
    std::string refusal = VectorHostBase::Refuse(p, c, d);
    if (refusal.empty()) refusal = RefuseOddPower(c, "unroll");
    if (!refusal.empty()) return refusal;
    return RefuseStride(c["blocks"], c["threads"] * c["vector"] * c["unroll"]);
  }
  static abi::LaunchConfig Launch(const abi::Problem&, const abi::Parameters& c) {
    return Launch1d(c["blocks"], c["threads"]);
  }
  static bool InPlace(const abi::Problem& p, int input) { return SameElements(p, input); }
};

/// In order of preference: ties of predicted cost go to the earlier one.
template <>
struct CudaHosts<abi::Family::kElementwise> {
  using List = HostList<ElementwiseMapHost>;
};

}  // namespace aicf::cuda
