#include "kernels/cuda/common/host.h"

#include <algorithm>
#include <cmath>

namespace aicf::cuda {

double PredictUs(const Work& work, const abi::DeviceSpec& device) {
  const double blocks = std::max(1.0, work.blocks);
  const double slots = std::max(1.0, static_cast<double>(device.sm_count) * work.blocks_per_sm);
  const double waves = std::ceil(blocks / slots);
  // A grid below one full wave leaves multiprocessors idle: both roofs sink with it.
  const double busy = std::min(1.0, blocks / std::max(1, device.sm_count));
  const double bandwidth = device.bytes_per_us * work.bytes_share * std::min(1.0, 4 * busy);
  const double memory = bandwidth > 0 ? work.bytes / bandwidth : 0;
  const double compute = work.flops_per_us > 0 ? work.flops / (work.flops_per_us * busy) : 0;
  return device.launch_us + std::max({memory, compute, waves * work.latency_us});
}

std::string RefuseDevice(const abi::DeviceSpec& device) {
  if (device.backend == abi::Backend::kCuda && device.sm >= 90) return {};
  return StrCat("needs a GPU of compute capability 9.0, the device is ", device.name);
}

bool SameElements(const abi::Problem& problem, int input) {
  if (input < 0 || input >= static_cast<int>(problem.inputs.size())) return false;
  const abi::View& in = problem.inputs[static_cast<size_t>(input)];
  const abi::View& out = problem.outputs[0];
  if (DTypeBytes(in.dtype) != DTypeBytes(out.dtype)) return false;
  if (in.shape != out.shape || in.offset != out.offset) return false;
  for (int d = 0; d < in.shape.rank(); ++d) {
    if (in.shape[d] > 1 && in.strides[d] != out.strides[d]) return false;
  }
  return true;
}

uint32_t GridFor(int64_t items, int64_t per_block, int64_t limit) {
  const int64_t blocks = items <= 0 ? 1 : (items - 1) / per_block + 1;
  return static_cast<uint32_t>(std::clamp<int64_t>(blocks, 1, limit));
}

abi::LaunchConfig Launch1d(uint32_t grid, uint32_t block) {
  abi::LaunchConfig launch;
  launch.grid[0] = grid;
  launch.block[0] = block;
  return launch;
}

}  // namespace aicf::cuda
