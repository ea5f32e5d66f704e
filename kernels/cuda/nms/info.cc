#include <algorithm>

#include "kernels/cuda/common/host.h"

namespace aicf::cuda {
namespace {

using abi::DeviceSpec;
using abi::LaunchConfig;
using abi::Problem;

struct GreedyHost : CudaHostBase {
  static constexpr std::string_view kKey = "cuda.nms.greedy";
  static constexpr std::string_view kSource = "nms/greedy.cuh";
  static constexpr int64_t kMaxBlocks = 8;  // one cluster: its blocks wait for each other

  static int64_t Pairs(const Problem& p) { return p.inputs[1].shape[0] * p.inputs[1].shape[1]; }
  static int64_t Boxes(const Problem& p) { return p.inputs[1].shape[2]; }
  static int64_t Most(const Problem& p) {
    return Pairs(p) == 0 ? 0 : std::min(Boxes(p), p.outputs[0].shape[0] / Pairs(p));
  }
  static int64_t Blocks(const Problem& p) {
    int64_t blocks = kMaxBlocks;
    while (blocks > 1 && blocks > Pairs(p)) blocks /= 2;
    return blocks;
  }

  static std::string Refusal(const Problem& p, const DeviceSpec&) {
    // Places are 32-bit numbers in the workspace.
    if (Boxes(p) >= int64_t{1} << 30) return StrCat("handles less than 2^30 boxes, not ", Boxes(p));
    return {};
  }
  static LaunchConfig Launch(const Problem& p, const DeviceSpec&) {
    const int64_t warps = std::clamp<int64_t>(Boxes(p) / 64, 1, 16);
    const auto blocks = static_cast<uint32_t>(Blocks(p));
    LaunchConfig launch = Launch1d(blocks, static_cast<uint32_t>(warps * 32));
    launch.cluster[0] = blocks;
    return launch;
  }
  static uint64_t Workspace(const Problem& p, const DeviceSpec&) {
    const int64_t room = (Boxes(p) + 3) / 4 * 4;
    return static_cast<uint64_t>(Blocks(p) * room * 24 + Pairs(p) * (Most(p) + 1) * 4);
  }
  static double CostUs(const Problem& p, const DeviceSpec& d) {
    const LaunchConfig l = Launch(p, d);
    const double rounds = static_cast<double>(CeilDiv(Pairs(p), Blocks(p)));
    const double walk = static_cast<double>(CeilDiv(Boxes(p), l.block[0])) * 0.05;
    // A fifth of the boxes that may be selected usually are.
    const double selected = static_cast<double>(Most(p)) * 0.2;
    return PredictUs({.bytes = abi::ByteCount(p),
                      .blocks = static_cast<double>(l.grid[0]),
                      .latency_us = 2 + rounds * (2 + walk + selected * (1 + walk))},
                     d);
  }
};

}  // namespace
}  // namespace aicf::cuda

namespace aicf::abi {

template <>
std::span<const KernelInfo> CudaKernels<Family::kNms>() {
  static const KernelInfo rows[] = {cuda::CudaRow<cuda::GreedyHost>(Family::kNms)};
  return rows;
}

}  // namespace aicf::abi
