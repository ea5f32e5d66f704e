#include "kernels/cuda/common/choice.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace aicf::cuda {

double PredictUs(const Work& work, const abi::DeviceSpec& device) {
  const double blocks = std::max(1.0, work.blocks);
  const double slots = std::max(1.0, static_cast<double>(device.sm_count) * work.blocks_per_sm);
  const double waves = std::ceil(blocks / slots);
  // A grid with fewer blocks than there are multiprocessors leaves some of them idle, which lowers
  // both roofs: that of arithmetic in proportion, that of memory below a quarter of the device.
  const double busy = std::min(1.0, blocks / std::max(1, device.sm_count));
  const double bandwidth = device.bytes_per_us * work.bytes_share * std::min(1.0, 4 * busy);
  const double memory = bandwidth > 0 ? work.bytes / bandwidth : 0;
  const double compute = work.flops_per_us > 0 ? work.flops / (work.flops_per_us * busy) : 0;
  return device.launch_us + std::max({memory, compute, waves * work.latency_us});
}

int64_t GridFor(int64_t items, int64_t per_block, int64_t limit) {
  const int64_t blocks = items <= 0 ? 1 : (items - 1) / per_block + 1;
  return std::clamp<int64_t>(blocks, 1, limit);
}

int64_t StridedGridFor(int64_t items, int64_t per_block) {
  constexpr int64_t kEnough = 1 << 20;
  return GridFor(items, per_block, std::min(kEnough, kMaxGridStride / per_block));
}

int64_t ClusterRoom(int64_t cluster, int sm_count) {
  constexpr int64_t kGroup = 16;
  const int64_t room =
      cluster <= 2 ? sm_count : sm_count * (kGroup / cluster * cluster) / kGroup * 9 / 10;
  return room / cluster * cluster;
}

int64_t WidestVector(std::string_view key, const abi::Problem& p) {
  const Space space = SpacesOf(key, p).output;
  std::vector<const abi::View*> views;
  // In families without an epilogue outputs may differ in shape. `space` is that of the first one,
  // so outputs of other shapes are left out.
  for (const abi::View& v : p.outputs) {
    if (v.shape == p.outputs[0].shape) views.push_back(&v);
  }
  const size_t first =
      p.family == abi::Family::kElementwise ? 0 : static_cast<size_t>(p.core_inputs);
  // In families without an epilogue, inputs behind the core operands are operands of a score
  // expression (attention), which has another domain. They are left out.
  const size_t last = abi::HasEpilogue(p.family) ? p.inputs.size() : first;
  for (size_t k = first; k < last; ++k) views.push_back(&p.inputs[k]);
  return VectorOf(views, space);
}

int64_t PreferredVector(std::string_view key, const abi::Problem& p, int sm_count) {
  int64_t vector = WidestVector(key, p);
  const int64_t count = abi::ElementsOf(p.outputs[0]);
  while (vector > 1 && count / vector < int64_t{256} * sm_count) vector /= 2;
  return vector;
}

int64_t PowerOfTwoAtLeast(int64_t v) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(v, 1))));
}

}  // namespace aicf::cuda
