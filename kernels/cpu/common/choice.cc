#include "kernels/cpu/common/choice.h"

#include <algorithm>

namespace aicf::cpu {
namespace {

/// The part of the device's peak rate that a kernel for `isa` reaches; the device's figures are for
/// the device's own instruction set.
double IsaShare(abi::CpuIsa isa, abi::CpuIsa device) {
  constexpr double kLanes[] = {4, 8, 16};
  return std::min(1.0, kLanes[static_cast<int>(isa)] / kLanes[static_cast<int>(device)]);
}

}  // namespace

double RooflineUs(const abi::Problem& problem, const abi::DeviceSpec& device, abi::CpuIsa isa,
                  double flops_share, double bytes_share) {
  // Small steps run on fewer threads, since the kernels themselves split work by such a grain.
  constexpr double kBytesPerThread = 128 * 1024;
  const double bytes = ByteCount(problem);
  const double threads =
      std::clamp(bytes / kBytesPerThread, 1.0, static_cast<double>(std::max(device.threads, 1)));
  const double rate = device.fp32_flops_per_us * flops_share * IsaShare(isa, device.isa) * threads;
  const double bandwidth = device.bytes_per_us * bytes_share;
  if (rate <= 0 || bandwidth <= 0) return device.launch_us;
  return device.launch_us + std::max(bytes / bandwidth, FlopCount(problem) / rate);
}

}  // namespace aicf::cpu
