#include <algorithm>
#include <bit>

#include "kernels/cuda/common/host.h"

namespace aicf::cuda {
namespace {

using abi::DeviceSpec;
using abi::LaunchConfig;
using abi::Problem;

constexpr int64_t kMaxGrid = 1 << 20;

int64_t PowerOfTwoAtLeast(int64_t v) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(v, 1))));
}

// Neighbours along the normalised axes, or among the groups, are neighbours in memory.
bool Contiguous(const Problem& p, size_t group) {
  const Space domain = SpacesOf("", p).domain;
  const Walk walk = WalkOf(p.inputs[0], domain.groups[group]);
  return walk.strides.empty() || std::abs(walk.strides.back()) <= 1;
}

double NormalizeUs(const Problem& p, const DeviceSpec& d, const LaunchConfig& launch,
                   double share) {
  const double threads = static_cast<double>(launch.block[0]) * launch.block[1];
  const double per_thread =
      static_cast<double>(abi::ElementsOf(p.inputs[0])) / std::max(1.0, threads * launch.grid[0]);
  // Rows that do not fit in registers are read once per pass, from the cache at best.
  const double passes = per_thread > 32 ? 2 : 1;
  return PredictUs({.bytes = abi::ByteCount(p) * passes,
                    .flops = abi::FlopCount(p),
                    .flops_per_us = d.fp32_flops_per_us / 4,
                    .bytes_share = share,
                    .blocks = static_cast<double>(launch.grid[0]),
                    .latency_us = 1.5 + per_thread * 0.02,
                    .blocks_per_sm = static_cast<int>(2048 / threads)},
                   d);
}

// Re-reading passes end before the first store of a row, which reads an element before it is
// replaced.
struct NormalizeHost : CudaHostBase {
  static bool InPlace(const Problem& p, int input) { return SameElements(p, input); }
};

struct RowsHost : NormalizeHost {
  static constexpr std::string_view kKey = "cuda.normalize.rows";
  static constexpr std::string_view kSource = "normalize/rows.cuh";

  static LaunchConfig Launch(const Problem& p, const DeviceSpec& d) {
    const Space domain = SpacesOf(kKey, p).domain;
    const int64_t length = domain.Count(0), rows = domain.Count(1);
    // Up to 32 elements per lane stay in registers; fewer when rows are few.
    int64_t lanes = std::clamp<int64_t>(PowerOfTwoAtLeast(length / 8), 1, 1024);
    if (rows * lanes < 512 * int64_t{d.sm_count}) {
      lanes = std::clamp<int64_t>(PowerOfTwoAtLeast(length / 4), lanes, 1024);
    }
    LaunchConfig launch;
    launch.block[0] = static_cast<uint32_t>(lanes);
    launch.block[1] = static_cast<uint32_t>(std::max<int64_t>(1, 128 / lanes));
    launch.grid[0] = GridFor(rows, launch.block[1], kMaxGrid);
    return launch;
  }
  static double CostUs(const Problem& p, const DeviceSpec& d) {
    return NormalizeUs(p, d, Launch(p, d), Contiguous(p, 0) ? 0.8 : 0.2);
  }
};

struct ColumnsHost : NormalizeHost {
  static constexpr std::string_view kKey = "cuda.normalize.columns";
  static constexpr std::string_view kSource = "normalize/columns.cuh";

  static LaunchConfig Launch(const Problem& p, const DeviceSpec&) {
    const Space domain = SpacesOf(kKey, p).domain;
    LaunchConfig launch;
    launch.block[0] = 32;
    launch.block[1] =
        static_cast<uint32_t>(std::clamp<int64_t>(PowerOfTwoAtLeast(domain.Count(0) / 8), 1, 16));
    launch.grid[0] = GridFor(domain.Count(1), 32, kMaxGrid);
    return launch;
  }
  static double CostUs(const Problem& p, const DeviceSpec& d) {
    const double lanes = std::min(1.0, static_cast<double>(SpacesOf(kKey, p).domain.Count(1)) / 32);
    return NormalizeUs(p, d, Launch(p, d), (Contiguous(p, 1) ? 0.75 : 0.15) * lanes);
  }
};

}  // namespace
}  // namespace aicf::cuda

namespace aicf::abi {

template <>
std::span<const KernelInfo> CudaKernels<Family::kNormalize>() {
  static const KernelInfo rows[] = {cuda::CudaRow<cuda::RowsHost>(Family::kNormalize),
                                    cuda::CudaRow<cuda::ColumnsHost>(Family::kNormalize)};
  return rows;
}

}  // namespace aicf::abi
