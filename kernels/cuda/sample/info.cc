#include "kernels/cuda/common/map_host.h"

namespace aicf::cuda {
namespace {

using abi::DeviceSpec;
using abi::LaunchConfig;
using abi::Problem;

struct TapsHost : CudaHostBase {
  static constexpr std::string_view kKey = "cuda.sample.taps";
  static constexpr std::string_view kSource = "sample/taps.cuh";

  static LaunchConfig Launch(const Problem& p, const DeviceSpec&) { return LaunchMap(p, 1); }
  static double CostUs(const Problem& p, const DeviceSpec& d) { return MapUs(p, d, 0.05); }
};

}  // namespace
}  // namespace aicf::cuda

namespace aicf::abi {

template <>
std::span<const KernelInfo> CudaKernels<Family::kSample>() {
  static const KernelInfo rows[] = {cuda::CudaRow<cuda::TapsHost>(Family::kSample)};
  return rows;
}

}  // namespace aicf::abi
