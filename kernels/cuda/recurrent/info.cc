#include <algorithm>
#include <bit>

#include "kernels/abi/recurrent.h"
#include "kernels/cuda/common/host.h"

namespace aicf::cuda {
namespace {

using abi::DeviceSpec;
using abi::LaunchConfig;
using abi::Problem;

constexpr int64_t kMaxCluster = 8;  // more is not portable
constexpr int64_t kMaxRows = 8;     // of the batch, per cluster: sums that a thread keeps
constexpr int64_t kSliceBytes = 48 * 1024;

/// How a problem is cut; cluster.cuh derives the same from the launch and the problem.
struct Cut {
  int64_t element = 4;   ///< bytes of the computing type
  int64_t pitch = 0;     ///< hidden units rounded up to 16 bytes
  int64_t cluster = 1;   ///< blocks that share one direction of some rows
  int64_t clusters = 1;  ///< per direction
  int64_t rows = 1;
  int64_t units = 0;  ///< of a block
  int64_t state_elements = 0, block_elements = 0, weight_elements = 0;
  int64_t shared_bytes = 0;  ///< 0: the states are in the workspace
};

void Measure(const Problem& p, const abi::RecurrentShape& s, Cut& cut) {
  cut.clusters = std::max<int64_t>(1, CeilDiv(s.batch, cut.rows));
  cut.rows = std::max<int64_t>(1, CeilDiv(s.batch, cut.clusters));
  cut.state_elements = (abi::ResetsBeforeProduct(p) ? 3 : 2) * cut.rows * cut.pitch;
  const int64_t wide = 16 / cut.element;
  cut.block_elements = CeilDiv((s.gates + 1) * cut.rows * cut.units, wide) * wide;
  cut.weight_elements = s.gates * cut.units * cut.pitch;
}

Cut CutOf(const Problem& p, const DeviceSpec& d) {
  const abi::RecurrentShape s = abi::RecurrentShapeOf(p);
  Cut cut;
  cut.element = p.inputs[0].dtype == DType::kF64 ? 8 : 4;
  const int64_t wide = 16 / cut.element;
  cut.pitch = CeilDiv(s.hidden, wide) * wide;
  const auto slice = [&] {
    return s.gates * CeilDiv(s.hidden, cut.cluster) * cut.pitch * cut.element;
  };
  while (cut.cluster < kMaxCluster && cut.cluster * 2 <= s.hidden && slice() > kSliceBytes) {
    cut.cluster *= 2;
  }
  cut.units = CeilDiv(s.hidden, cut.cluster);
  const int64_t at_once = std::max<int64_t>(1, d.sm_count / (cut.cluster * s.directions));
  cut.rows = std::clamp<int64_t>(CeilDiv(s.batch, at_once), 1, kMaxRows);
  Measure(p, s, cut);
  const auto bytes = [&](bool weights) {
    return cut.element *
           (cut.state_elements + cut.block_elements + (weights ? cut.weight_elements : 0));
  };
  if (bytes(false) > d.max_shared_bytes) {
    cut.rows = 1;
    Measure(p, s, cut);
  }
  if (bytes(false) > d.max_shared_bytes) return cut;
  // With a single step every weight is used once, so that copying it first would only cost.
  const bool keeps = s.steps > 1 && bytes(true) <= d.max_shared_bytes;
  cut.shared_bytes = bytes(keeps);
  return cut;
}

struct ClusterHost : CudaHostBase {
  static constexpr std::string_view kKey = "cuda.recurrent.cluster";
  static constexpr std::string_view kSource = "recurrent/cluster.cuh";

  /// No input has the shape of the first output, so none can take its bytes.
  static bool InPlace(const Problem&, int) { return false; }

  static LaunchConfig Launch(const Problem& p, const DeviceSpec& d) {
    const Cut cut = CutOf(p, d);
    const abi::RecurrentShape s = abi::RecurrentShapeOf(p);
    const int64_t threads = s.gates * cut.units > 64 ? 512 : 256;
    LaunchConfig launch = Launch1d(static_cast<uint32_t>(s.directions * cut.clusters * cut.cluster),
                                   static_cast<uint32_t>(threads));
    launch.cluster[0] = static_cast<uint32_t>(cut.cluster);
    launch.dynamic_shared_bytes = static_cast<uint32_t>(cut.shared_bytes);
    return launch;
  }
  static uint64_t Workspace(const Problem& p, const DeviceSpec& d) {
    const Cut cut = CutOf(p, d);
    if (cut.shared_bytes > 0) return 0;
    const int64_t each = cut.state_elements + cut.cluster * cut.block_elements;
    const int64_t all = abi::RecurrentShapeOf(p).directions * cut.clusters * each;
    return static_cast<uint64_t>(all * cut.element);
  }
  static double CostUs(const Problem& p, const DeviceSpec& d) {
    const Cut cut = CutOf(p, d);
    const abi::RecurrentShape s = abi::RecurrentShapeOf(p);
    // A step: its weights from the second-level cache unless they stay in shared memory, about 60
    // bytes per nanosecond and multiprocessor, and a meeting of the blocks.
    const double weights = static_cast<double>(cut.weight_elements * cut.element);
    const double step = weights / 60e3 + (cut.cluster > 1 ? 1.0 : 0.5);
    return PredictUs({.bytes = abi::ByteCount(p),
                      .bytes_share = 0.2,
                      .blocks = static_cast<double>(Launch(p, d).grid[0]),
                      .latency_us = 2 + static_cast<double>(s.steps) * step,
                      .blocks_per_sm = 1},
                     d);
  }
};

}  // namespace
}  // namespace aicf::cuda

namespace aicf::abi {

template <>
std::span<const KernelInfo> CudaKernels<Family::kRecurrent>() {
  static const KernelInfo rows[] = {cuda::CudaRow<cuda::ClusterHost>(Family::kRecurrent)};
  return rows;
}

}  // namespace aicf::abi
