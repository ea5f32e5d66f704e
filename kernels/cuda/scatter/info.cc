#include "kernels/cuda/common/host.h"
#include "kernels/cuda/scatter/scatter.h"

namespace aicf::cuda {
namespace {

using abi::DeviceSpec;
using abi::LaunchConfig;
using abi::Problem;

constexpr uint32_t kThreads = 128;
constexpr int64_t kMaxGrid = 1 << 20;

/// Updates in place leave every other element as it is.
struct ScatterHost : CudaHostBase {
  static bool InPlace(const Problem& p, int input) { return input == 0 && SameElements(p, input); }
};

/// Instructions of all lanes, as if each were one operation of a lane.
double LanesPerUs(const DeviceSpec& d) { return d.sm_count * 128.0 * 1500; }

struct LinesHost : ScatterHost {
  static constexpr std::string_view kKey = kScatterLinesKey;
  static constexpr std::string_view kSource = "scatter/lines.cuh";

  static std::string Refusal(const Problem& p, const DeviceSpec&) {
    const bool elements = p.as<abi::ScatterAttrs>().kind == abi::ScatterKind::kElements;
    return elements ? "" : "walks lines of single elements";
  }
  static LaunchConfig Launch(const Problem& p, const DeviceSpec& d) {
    const int64_t threads = ScatterExtents(p).lines * ScatterShares(kKey, p, d.sm_count);
    return Launch1d(GridFor(threads, kThreads, kMaxGrid), kThreads);
  }
  static double CostUs(const Problem& p, const DeviceSpec& d) {
    const ScatterExtents e(p);
    const double updates = static_cast<double>(e.updates);
    const double threads = static_cast<double>(e.lines * ScatterShares(kKey, p, d.sm_count));
    return PredictUs({.bytes = abi::ByteCount(p),
                      .flops = threads * updates * 10,
                      .flops_per_us = LanesPerUs(d),
                      .bytes_share = 0.5,
                      .blocks = static_cast<double>(Launch(p, d).grid[0]),
                      .latency_us = 1.5 + 0.012 * updates,
                      .blocks_per_sm = 16},
                     d);
  }
};

struct OwnersHost : ScatterHost {
  static constexpr std::string_view kKey = kScatterOwnersKey;
  static constexpr std::string_view kSource = "scatter/owners.cuh";

  static int64_t Warps(const Problem& p, const DeviceSpec& d) {
    const ScatterExtents e(p);
    return e.lines * ScatterShares(kKey, p, d.sm_count) * ScatterChunks(e);
  }
  static LaunchConfig Launch(const Problem& p, const DeviceSpec& d) {
    return Launch1d(GridFor(Warps(p, d), kThreads / 32, kMaxGrid), kThreads);
  }
  static double CostUs(const Problem& p, const DeviceSpec& d) {
    const double updates = static_cast<double>(ScatterExtents(p).updates);
    return PredictUs({.bytes = abi::ByteCount(p),
                      .flops = static_cast<double>(Warps(p, d)) * (updates * 16 + 32 * 60),
                      .flops_per_us = LanesPerUs(d),
                      .bytes_share = 0.5,
                      .blocks = static_cast<double>(Launch(p, d).grid[0]),
                      .latency_us = 1.5 + 0.001 * updates,
                      .blocks_per_sm = 16},
                     d);
  }
};

}  // namespace
}  // namespace aicf::cuda

namespace aicf::abi {

template <>
std::span<const KernelInfo> CudaKernels<Family::kScatter>() {
  static const KernelInfo rows[] = {cuda::CudaRow<cuda::LinesHost>(Family::kScatter),
                                    cuda::CudaRow<cuda::OwnersHost>(Family::kScatter)};
  return rows;
}

}  // namespace aicf::abi
