/// What is legal for the nms kernels.
#pragma once

#include <algorithm>

#include "kernels/cuda/common/host.h"

namespace aicf::cuda {

struct NmsGreedyHost : CudaHostBase {
  static constexpr std::string_view kKey = "cuda.nms.greedy";
  static constexpr std::string_view kSource = "nms/greedy.cuh";
  /// The grid is one cluster, whose blocks wait for each other.
  static constexpr abi::ParameterRange kParameters[] = {{"threads", 32, 512}, {"cluster", 1, 8}};

  static int64_t Pairs(const abi::Problem& p) {
    return p.inputs[1].shape[0] * p.inputs[1].shape[1];
  }
  static int64_t Boxes(const abi::Problem& p) { return p.inputs[1].shape[2]; }
  static int64_t Most(const abi::Problem& p) {
    return Pairs(p) == 0 ? 0 : std::min(Boxes(p), p.outputs[0].shape[0] / Pairs(p));
  }

  static std::string Refusal(const abi::Problem& p, const abi::DeviceSpec&) {
    // Places are 32-bit numbers in the workspace.
    if (Boxes(p) >= int64_t{1} << 30) return StrCat("handles less than 2^30 boxes, not ", Boxes(p));
    return {};
  }
  static std::string Refuse(const abi::Problem&, const abi::Parameters& c, const abi::DeviceSpec&) {
    return RefuseParts(c, "threads", 32);
  }
  static abi::LaunchConfig Launch(const abi::Problem&, const abi::Parameters& c) {
    abi::LaunchConfig launch = Launch1d(c["cluster"], c["threads"]);
    launch.cluster[0] = launch.grid[0];
    return launch;
  }
  static uint64_t Workspace(const abi::Problem& p, const abi::Parameters& c) {
    const int64_t room = (Boxes(p) + 3) / 4 * 4;
    return static_cast<uint64_t>(c["cluster"] * room * 24 + Pairs(p) * (Most(p) + 1) * 4);
  }
};

/// In order of preference: ties of predicted cost go to the earlier one.
template <>
struct CudaHosts<abi::Family::kNms> {
  using List = HostList<NmsGreedyHost>;
};

}  // namespace aicf::cuda
