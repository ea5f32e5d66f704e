#include "kernels/cuda/common/map_host.h"

namespace aicf::cuda {
namespace {

using abi::DeviceSpec;
using abi::LaunchConfig;
using abi::Problem;

struct MapHost : CudaHostBase {
  static constexpr std::string_view kKey = "cuda.gather.map";
  static constexpr std::string_view kSource = "gather/map.cuh";

  static LaunchConfig Launch(const Problem& p, const DeviceSpec&) { return LaunchMap(p, 1); }
  static double CostUs(const Problem& p, const DeviceSpec& d) { return MapUs(p, d, 0.1); }
};

}  // namespace
}  // namespace aicf::cuda

namespace aicf::abi {

template <>
std::span<const KernelInfo> CudaKernels<Family::kGather>() {
  static const KernelInfo rows[] = {cuda::CudaRow<cuda::MapHost>(Family::kGather)};
  return rows;
}

}  // namespace aicf::abi
