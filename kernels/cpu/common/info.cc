#include <algorithm>

#include "kernels/cpu/common/host.h"

namespace aicf::cpu {
namespace {

/// What a kernel for `isa` reaches of a device whose figures are for its own instruction set.
double IsaShare(abi::CpuIsa isa, abi::CpuIsa device) {
  constexpr double kLanes[] = {4, 8, 16};
  return std::min(1.0, kLanes[static_cast<int>(isa)] / kLanes[static_cast<int>(device)]);
}

}  // namespace

double RooflineUs(const abi::Problem& problem, const abi::DeviceSpec& device, abi::CpuIsa isa,
                  double flops_share, double bytes_share) {
  // Small steps run on one thread; the same grain as the kernels' own splitting.
  constexpr double kBytesPerThread = 128 * 1024;
  const double bytes = ByteCount(problem);
  const double threads =
      std::clamp(bytes / kBytesPerThread, 1.0, static_cast<double>(std::max(device.threads, 1)));
  const double rate = device.fp32_flops_per_us * flops_share * IsaShare(isa, device.isa) * threads;
  const double bandwidth = device.bytes_per_us * bytes_share;
  if (rate <= 0 || bandwidth <= 0) return device.launch_us;
  return device.launch_us + std::max(bytes / bandwidth, FlopCount(problem) / rate);
}

std::string MissingIsa(const abi::DeviceSpec& device, abi::CpuIsa isa) {
  if (device.isa >= isa) return {};
  return StrCat("needs ", isa == abi::CpuIsa::kAvx512 ? "AVX-512" : "AVX2",
                ", which the device does not have");
}

bool SameElements(const abi::Problem& problem, int input) {
  if (input < 0 || input >= static_cast<int>(problem.inputs.size()) || problem.outputs.empty()) {
    return false;
  }
  const abi::View& in = problem.inputs[static_cast<size_t>(input)];
  const abi::View& out = problem.outputs[0];
  if (DTypeBytes(in.dtype) != DTypeBytes(out.dtype)) return false;
  if (in.shape != out.shape || in.offset != out.offset) return false;
  for (int axis = 0; axis < in.shape.rank(); ++axis) {
    if (in.shape[axis] > 1 && in.strides[axis] != out.strides[axis]) return false;
  }
  return true;
}

}  // namespace aicf::cpu
