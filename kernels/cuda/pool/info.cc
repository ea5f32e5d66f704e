#include "kernels/cuda/common/map_host.h"

namespace aicf::cuda {
namespace {

using abi::DeviceSpec;
using abi::LaunchConfig;
using abi::Problem;

struct WindowHost : CudaHostBase {
  static constexpr std::string_view kKey = "cuda.pool.window";
  static constexpr std::string_view kSource = "pool/window.cuh";

  static LaunchConfig Launch(const Problem& p, const DeviceSpec& d) {
    // Only vectors along the channels are taken whole.
    const Dims inner = SpacesOf(kKey, p).output.groups[0];
    const bool channels = !inner.empty() && inner.back() == 1 && p.inputs[0].strides[1] == 1;
    const int vector = OutputVector(kKey, p, d.sm_count);
    return LaunchMap(p, channels && p.outputs[0].shape[1] % vector == 0 ? vector : 1);
  }
  static double CostUs(const Problem& p, const DeviceSpec& d) { return MapUs(p, d, 0.1); }
};

}  // namespace
}  // namespace aicf::cuda

namespace aicf::abi {

template <>
std::span<const KernelInfo> CudaKernels<Family::kPool>() {
  static const KernelInfo rows[] = {cuda::CudaRow<cuda::WindowHost>(Family::kPool)};
  return rows;
}

}  // namespace aicf::abi
