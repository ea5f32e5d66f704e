#include <algorithm>

#include "kernels/cuda/common/host.h"

namespace aicf::cuda {
namespace {

using abi::DeviceSpec;
using abi::LaunchConfig;
using abi::Problem;

constexpr uint32_t kThreads = 128;
constexpr int64_t kMaxGrid = 1 << 20;

/// An element is read just before it is overwritten, by the same thread, and never again.
struct ScanHost : CudaHostBase {
  static bool InPlace(const Problem& p, int input) { return input == 0 && SameElements(p, input); }
  static int64_t Length(const Problem& p) {
    return p.inputs[0].shape[static_cast<int>(p.as<abi::ScanAttrs>().axis)];
  }
  static int64_t Lines(const Problem& p) {
    return Length(p) == 0 ? 0 : abi::ElementsOf(p.outputs[0]) / Length(p);
  }
};

struct BlockHost : ScanHost {
  static constexpr std::string_view kKey = "cuda.scan.block";
  static constexpr std::string_view kSource = "scan/block.cuh";
  static constexpr int64_t kItems = 4;  // per thread, as in block.cuh

  static LaunchConfig Launch(const Problem& p, const DeviceSpec&) {
    const int64_t warps = std::clamp<int64_t>(Length(p) / (32 * kItems), 1, 16);
    return Launch1d(GridFor(Lines(p), 1, kMaxGrid), static_cast<uint32_t>(warps * 32));
  }
  static double CostUs(const Problem& p, const DeviceSpec& d) {
    const LaunchConfig l = Launch(p, d);
    const double chunks = static_cast<double>(CeilDiv(Length(p), l.block[0] * kItems));
    return PredictUs({.bytes = abi::ByteCount(p),
                      .bytes_share = 0.5,
                      .blocks = static_cast<double>(l.grid[0]),
                      .latency_us = 1.0 + 1.2 * chunks,
                      .blocks_per_sm = static_cast<int>(2048 / l.block[0])},
                     d);
  }
};

struct LinesHost : ScanHost {
  static constexpr std::string_view kKey = "cuda.scan.lines";
  static constexpr std::string_view kSource = "scan/lines.cuh";

  static LaunchConfig Launch(const Problem& p, const DeviceSpec&) {
    return Launch1d(GridFor(Lines(p), kThreads, kMaxGrid), kThreads);
  }
  static double CostUs(const Problem& p, const DeviceSpec& d) {
    // Threads beside each other read far apart where the axis is the innermost one.
    const bool along = p.inputs[0].strides[static_cast<int>(p.as<abi::ScanAttrs>().axis)] == 1;
    return PredictUs({.bytes = abi::ByteCount(p),
                      .bytes_share = along && Length(p) > 1 ? 0.1 : 0.6,
                      .blocks = static_cast<double>(Launch(p, d).grid[0]),
                      .latency_us = 1.0 + 0.09 * static_cast<double>(Length(p)),
                      .blocks_per_sm = 16},
                     d);
  }
};

}  // namespace
}  // namespace aicf::cuda

namespace aicf::abi {

template <>
std::span<const KernelInfo> CudaKernels<Family::kScan>() {
  static const KernelInfo rows[] = {cuda::CudaRow<cuda::BlockHost>(Family::kScan),
                                    cuda::CudaRow<cuda::LinesHost>(Family::kScan)};
  return rows;
}

}  // namespace aicf::abi
