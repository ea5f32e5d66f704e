#include "kernels/cuda/common/host.h"

namespace aicf::cuda {
namespace {

using abi::DeviceSpec;
using abi::LaunchConfig;
using abi::Problem;

constexpr int kThreads = 128;

struct MapHost : CudaHostBase {
  static constexpr std::string_view kKey = "cuda.elementwise.map";
  static constexpr std::string_view kSource = "elementwise/map.cuh";

  static LaunchConfig Launch(const Problem& p, const DeviceSpec& d) {
    const int64_t per_block = int64_t{kThreads} * OutputVector(kKey, p, d.sm_count);
    return Launch1d(GridFor(abi::ElementsOf(p.outputs[0]), per_block, 1 << 20), kThreads);
  }
  static bool InPlace(const Problem& p, int input) { return SameElements(p, input); }
  static double CostUs(const Problem& p, const DeviceSpec& d) {
    return PredictUs({.bytes = abi::ByteCount(p),
                      .flops = abi::FlopCount(p),
                      .flops_per_us = d.fp32_flops_per_us / 4,
                      .blocks = static_cast<double>(Launch(p, d).grid[0]),
                      .latency_us = 0.8,
                      .blocks_per_sm = 16},
                     d);
  }
};

}  // namespace
}  // namespace aicf::cuda

namespace aicf::abi {

template <>
std::span<const KernelInfo> CudaKernels<Family::kElementwise>() {
  static const KernelInfo rows[] = {cuda::CudaRow<cuda::MapHost>(Family::kElementwise)};
  return rows;
}

}  // namespace aicf::abi
