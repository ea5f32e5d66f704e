#include <algorithm>
#include <bit>

#include "kernels/cuda/common/host.h"

namespace aicf::cuda {
namespace {

using abi::DeviceSpec;
using abi::LaunchConfig;
using abi::Problem;

constexpr int64_t kMaxGrid = 1 << 20;
constexpr uint64_t kAccumulatorBytes = 16;  // at most: a value and its position

int64_t PowerOfTwoAtLeast(int64_t v) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(v, 1))));
}

int DomainVector(std::string_view key, const Problem& p) {
  std::vector<const abi::View*> cores;
  for (int k = 0; k < p.core_inputs; ++k) cores.push_back(&p.inputs[static_cast<size_t>(k)]);
  return VectorOf(cores, SpacesOf(key, p).domain);
}

// Blocks of one cluster that share an output: as many as keep the machine busy and have work.
int64_t Pieces(int64_t groups, int64_t length, int64_t enough, int sm_count) {
  int64_t pieces = 1;
  while (pieces < 8 && groups * pieces * 2 <= sm_count && length / pieces >= 2 * enough)
    pieces *= 2;
  // More than 8 is not portable and schedules less freely; only a very long sum repays it.
  if (pieces == 8 && groups * 16 <= sm_count && length >= (int64_t{1} << 24)) pieces = 16;
  return pieces;
}

double ReduceUs(const Problem& p, const DeviceSpec& d, const LaunchConfig& launch, double share) {
  const double threads = static_cast<double>(launch.block[0]) * launch.block[1];
  const double per_thread =
      static_cast<double>(abi::ElementsOf(p.inputs[0])) / std::max(1.0, threads * launch.grid[0]);
  return PredictUs({.bytes = abi::ByteCount(p),
                    .flops = abi::FlopCount(p),
                    .flops_per_us = d.fp32_flops_per_us / 8,
                    .bytes_share = share,
                    .blocks = static_cast<double>(launch.grid[0]),
                    .latency_us = 1.2 + per_thread * 0.02,
                    .blocks_per_sm = static_cast<int>(2048 / threads)},
                   d);
}

struct RowsHost : CudaHostBase {
  static constexpr std::string_view kKey = "cuda.reduce.rows";
  static constexpr std::string_view kSource = "reduce/rows.cuh";

  static LaunchConfig Launch(const Problem& p, const DeviceSpec& d) {
    const Space domain = SpacesOf(kKey, p).domain;
    const int64_t length = domain.Count(0), results = domain.Count(1);
    const int64_t vectors = CeilDiv(length, DomainVector(kKey, p));
    int64_t lanes = std::min<int64_t>(PowerOfTwoAtLeast(vectors), 256);
    // With outputs enough for the whole machine, fewer lanes per output merge less.
    while (lanes > 8 && results * lanes > 2048 * int64_t{d.sm_count} && vectors / lanes < 8)
      lanes /= 2;
    LaunchConfig launch;
    const int64_t pieces = lanes < 256 ? 1 : Pieces(results, length, 16384, d.sm_count);
    if (pieces > 1) lanes = 1024;
    launch.block[0] = static_cast<uint32_t>(lanes);
    launch.block[1] = static_cast<uint32_t>(std::max<int64_t>(1, 256 / lanes));
    launch.cluster[0] = static_cast<uint32_t>(pieces);
    launch.grid[0] = GridFor(results, launch.block[1], kMaxGrid) * launch.cluster[0];
    return launch;
  }
  static uint64_t Workspace(const Problem& p, const DeviceSpec& d) {
    const LaunchConfig launch = Launch(p, d);
    return launch.cluster[0] == 1 ? 0 : kAccumulatorBytes * launch.grid[0];
  }
  static double CostUs(const Problem& p, const DeviceSpec& d) {
    const Space domain = SpacesOf(kKey, p).domain;
    const Walk walk = WalkOf(p.inputs[0], domain.groups[0]);
    const bool contiguous = walk.strides.empty() || std::abs(walk.strides.back()) <= 1;
    return ReduceUs(p, d, Launch(p, d), contiguous ? 0.85 : 0.2);
  }
};

struct ColumnsHost : CudaHostBase {
  static constexpr std::string_view kKey = "cuda.reduce.columns";
  static constexpr std::string_view kSource = "reduce/columns.cuh";

  static LaunchConfig Launch(const Problem& p, const DeviceSpec& d) {
    const Space domain = SpacesOf(kKey, p).domain;
    const int64_t length = domain.Count(1), results = domain.Count(0);
    LaunchConfig launch;
    launch.block[0] = 32;
    launch.block[1] =
        static_cast<uint32_t>(std::clamp<int64_t>(PowerOfTwoAtLeast(length / 8), 1, 16));
    const int64_t groups = CeilDiv(std::max<int64_t>(results, 1), 32);
    launch.cluster[0] = static_cast<uint32_t>(Pieces(groups, length, 512, d.sm_count));
    launch.grid[0] = GridFor(results, 32, kMaxGrid) * launch.cluster[0];
    return launch;
  }
  static uint64_t Workspace(const Problem& p, const DeviceSpec& d) {
    const LaunchConfig launch = Launch(p, d);
    return launch.cluster[0] == 1 ? 0 : kAccumulatorBytes * 32 * launch.grid[0];
  }
  static double CostUs(const Problem& p, const DeviceSpec& d) {
    const Space domain = SpacesOf(kKey, p).domain;
    const Walk walk = WalkOf(p.inputs[0], domain.groups[0]);
    const bool contiguous = !walk.strides.empty() && std::abs(walk.strides.back()) <= 1;
    const double lanes = std::min(1.0, static_cast<double>(domain.Count(0)) / 32);
    return ReduceUs(p, d, Launch(p, d), contiguous ? 0.8 * lanes : 0.15 * lanes);
  }
};

}  // namespace
}  // namespace aicf::cuda

namespace aicf::abi {

template <>
std::span<const KernelInfo> CudaKernels<Family::kReduce>() {
  static const KernelInfo rows[] = {cuda::CudaRow<cuda::RowsHost>(Family::kReduce),
                                    cuda::CudaRow<cuda::ColumnsHost>(Family::kReduce)};
  return rows;
}

}  // namespace aicf::abi
