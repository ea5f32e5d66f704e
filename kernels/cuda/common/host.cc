#include "kernels/cuda/common/host.h"

#include <algorithm>

namespace aicf::cuda {

std::string RefuseDevice(const abi::DeviceSpec& device) {
  if (device.backend == abi::Backend::kCuda && device.sm >= 80) return {};
  return StrCat("needs a GPU of compute capability 8.0 or later, the device is ", device.name);
}

std::string RefuseWithoutWarpgroups(const abi::DeviceSpec& device) {
  if (device.warpgroup_products) return {};
  return StrCat("multiplies by warpgroups (wgmma), which only sm_90a has, the device is ",
                device.name);
}

std::string RefuseWithoutBulkCopies(const abi::DeviceSpec& device) {
  if (device.warpgroup_products) return {};
  return StrCat("fills its ring by Hopper's bulk copies, the device is ", device.name);
}

std::string RefuseLaunchOn(const abi::DeviceSpec& device, const abi::LaunchConfig& launch) {
  const uint64_t cluster = uint64_t{launch.cluster[0]} * launch.cluster[1] * launch.cluster[2];
  if (cluster > static_cast<uint64_t>(device.max_cluster)) {
    return StrCat("takes clusters of ", cluster, " blocks, ", device.name, " has ",
                  device.max_cluster == 1 ? "none" : StrCat("at most ", device.max_cluster));
  }
  if (launch.dynamic_shared_bytes > static_cast<uint64_t>(device.max_shared_bytes)) {
    return StrCat("needs ", launch.dynamic_shared_bytes, " bytes of shared memory, there are ",
                  device.max_shared_bytes);
  }
  return {};
}

bool SameElements(const abi::Problem& problem, int input) {
  if (input < 0 || input >= static_cast<int>(problem.inputs.size())) return false;
  const auto output = static_cast<size_t>(abi::OutputInPlaceOf(problem, input));
  const abi::View& in = problem.inputs[static_cast<size_t>(input)];
  const abi::View& out = problem.outputs[output];
  if (DTypeBytes(in.dtype) != DTypeBytes(out.dtype)) return false;
  if (in.shape != out.shape || in.offset != out.offset) return false;
  for (int d = 0; d < in.shape.rank(); ++d) {
    if (in.shape[d] > 1 && in.strides[d] != out.strides[d]) return false;
  }
  return true;
}

abi::LaunchConfig Launch1d(int64_t grid, int64_t block) {
  abi::LaunchConfig launch;
  launch.grid[0] = static_cast<uint32_t>(grid);
  launch.block[0] = static_cast<uint32_t>(block);
  return launch;
}

std::string RefuseOddPower(const abi::Parameters& parameters, std::string_view name) {
  const int64_t value = parameters[name];
  if (IsPowerOfTwo(static_cast<uint64_t>(value))) return {};
  return StrCat("takes ", name, " as a power of two, here is ", value);
}

std::string RefuseParts(const abi::Parameters& parameters, std::string_view name, int64_t unit) {
  const int64_t value = parameters[name];
  if (value % unit == 0) return {};
  return StrCat("takes ", name, " in multiples of ", unit, ", here is ", value);
}

std::string RefuseStride(int64_t blocks, int64_t elements_per_block) {
  if (blocks <= kMaxGridStride / std::max<int64_t>(1, elements_per_block)) return {};
  return StrCat(blocks, " blocks of ", elements_per_block, " elements are above ", kMaxGridStride,
                " elements at once");
}

}  // namespace aicf::cuda
