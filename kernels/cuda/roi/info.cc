#include "kernels/cuda/common/map_host.h"

namespace aicf::cuda {
namespace {

using abi::DeviceSpec;
using abi::LaunchConfig;
using abi::Problem;

struct BinsHost : CudaHostBase {
  static constexpr std::string_view kKey = "cuda.roi.bins";
  static constexpr std::string_view kSource = "roi/bins.cuh";

  static LaunchConfig Launch(const Problem& p, const DeviceSpec&) { return LaunchMap(p, 1); }
  static double CostUs(const Problem& p, const DeviceSpec& d) { return MapUs(p, d, 0.02); }
};

}  // namespace
}  // namespace aicf::cuda

namespace aicf::abi {

template <>
std::span<const KernelInfo> CudaKernels<Family::kRoi>() {
  static const KernelInfo rows[] = {cuda::CudaRow<cuda::BinsHost>(Family::kRoi)};
  return rows;
}

}  // namespace aicf::abi
