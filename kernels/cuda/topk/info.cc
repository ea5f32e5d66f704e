#include <algorithm>

#include "kernels/cuda/common/host.h"

namespace aicf::cuda {
namespace {

using abi::DeviceSpec;
using abi::LaunchConfig;
using abi::Problem;

struct SelectHost : CudaHostBase {
  static constexpr std::string_view kKey = "cuda.topk.select";
  static constexpr std::string_view kSource = "topk/select.cuh";

  static LaunchConfig Launch(const Problem& p, const DeviceSpec&) {
    const Space domain = SpacesOf(kKey, p).domain;
    const int64_t warps = std::clamp<int64_t>(domain.Count(0) / 128, 1, 16);
    return Launch1d(GridFor(domain.Count(1), 1), static_cast<uint32_t>(warps * 32));
  }
  static double CostUs(const Problem& p, const DeviceSpec& d) {
    const double k = static_cast<double>(p.as<abi::TopKAttrs>().k);
    return PredictUs({.bytes = abi::ByteCount(p),
                      .blocks = static_cast<double>(Launch(p, d).grid[0]),
                      .latency_us = 1 + 0.2 * k},
                     d);
  }
};

}  // namespace
}  // namespace aicf::cuda

namespace aicf::abi {

template <>
std::span<const KernelInfo> CudaKernels<Family::kTopK>() {
  static const KernelInfo rows[] = {cuda::CudaRow<cuda::SelectHost>(Family::kTopK)};
  return rows;
}

}  // namespace aicf::abi
