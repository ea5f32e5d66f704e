/// What is legal for the topk kernels.
#pragma once

#include "kernels/cuda/common/host.h"

namespace aicf::cuda {

struct TopKSelectHost : CudaHostBase {
  static constexpr std::string_view kKey = "cuda.topk.select";
  static constexpr std::string_view kSource = "topk/select.cuh";
  static constexpr abi::ParameterRange kParameters[] = {kThreadsRange, kBlocksRange};

  static std::string Refuse(const abi::Problem&, const abi::Parameters& c, const abi::DeviceSpec&) {
    const std::string refusal = RefuseParts(c, "threads", 32);
    return refusal.empty() ? RefuseStride(c["blocks"], 1) : refusal;
  }
  static abi::LaunchConfig Launch(const abi::Problem&, const abi::Parameters& c) {
    return Launch1d(c["blocks"], c["threads"]);
  }
};

/// In order of preference: ties of predicted cost go to the earlier one.
template <>
struct CudaHosts<abi::Family::kTopK> {
  using List = HostList<TopKSelectHost>;
};

}  // namespace aicf::cuda
