/// What is legal for the reduce kernels.
#pragma once

#include <algorithm>

#include "kernels/cuda/common/host.h"

namespace aicf::cuda {

/// The blocks of a cluster share one output and merge their partial results, in order, in the
/// workspace.
struct ReduceHostBase : CudaHostBase {
  static constexpr uint64_t kAccumulatorBytes = 16;  ///< at most: a value and its position

  static std::string RefuseCluster(const abi::Parameters& c, int64_t results_per_block) {
    if (c["blocks"] % c["cluster"] != 0) {
      return StrCat(c["blocks"], " blocks are no whole clusters of ", c["cluster"]);
    }
    return RefuseStride(c["blocks"], results_per_block);
  }
  static uint64_t PartsBytes(int64_t results, const abi::Parameters& c) {
    if (c["cluster"] == 1) return 0;
    return kAccumulatorBytes * static_cast<uint64_t>(std::max<int64_t>(1, results) * c["cluster"]);
  }
};

/// `lanes` neighbouring threads walk the reduced elements of one output.
struct ReduceRowsHost : ReduceHostBase {
  static constexpr std::string_view kKey = "cuda.reduce.rows";
  static constexpr std::string_view kSource = "reduce/rows.cuh";
  static constexpr abi::ParameterRange kParameters[] = {{"lanes", 1, kMaxThreads},
                                                        {"results_per_block", 1, kMaxThreads},
                                                        {"cluster", 1, 16},
                                                        kBlocksRange};

  static std::string Refuse(const abi::Problem&, const abi::Parameters& c, const abi::DeviceSpec&) {
    const int64_t together = c["results_per_block"], threads = c["lanes"] * together;
    if (threads % 32 != 0 || threads > kMaxThreads) {
      return StrCat("takes lanes x results_per_block in multiples of 32 up to 1024, here are ",
                    threads);
    }
    if (c["cluster"] > 1 && together > 1) return "a cluster works on one result at a time";
    const std::string refusal = RefuseOddPower(c, "lanes");
    return refusal.empty() ? RefuseCluster(c, together) : refusal;
  }
  static abi::LaunchConfig Launch(const abi::Problem&, const abi::Parameters& c) {
    abi::LaunchConfig launch = Launch1d(c["blocks"], c["lanes"]);
    launch.block[1] = static_cast<uint32_t>(c["results_per_block"]);
    launch.cluster[0] = static_cast<uint32_t>(c["cluster"]);
    return launch;
  }
  static uint64_t Workspace(const abi::Problem& p, const abi::Parameters& c) {
    return PartsBytes(SpacesOf(kKey, p).domain.Count(1), c);
  }
};

/// `neighbours` threads of one warp walk neighbouring outputs, `vector` each; `lanes` threads share
/// the reduced elements of each output.
struct ReduceColumnsHost : ReduceHostBase {
  static constexpr std::string_view kKey = "cuda.reduce.columns";
  static constexpr std::string_view kSource = "reduce/columns.cuh";
  static constexpr abi::ParameterRange kParameters[] = {{"lanes", 1, kMaxThreads},
                                                        {"cluster", 1, 16},
                                                        kBlocksRange,
                                                        {"vector", 1, kMaxVector, 1},
                                                        {"neighbours", 1, 32, 32}};
  /// The warps' accumulators meet in static shared memory, of which a block may have 48 KiB.
  static int64_t MostLanes(int64_t vector, int64_t neighbours) {
    constexpr int64_t kShared = 48 * 1024, kBytes = static_cast<int64_t>(kAccumulatorBytes);
    const int64_t warps = kShared / (kBytes * vector * neighbours);
    return std::min(kMaxThreads, warps * 32) / neighbours;
  }

  static std::string Refuse(const abi::Problem& p, const abi::Parameters& given,
                            const abi::DeviceSpec&) {
    const abi::WholeParameters c(given, kParameters);
    const int64_t vector = c["vector"], results = SpacesOf(kKey, p).domain.Count(0);
    const int64_t neighbours = c["neighbours"], most = MostLanes(vector, neighbours);
    std::string refusal = RefuseOddPower(c, "vector");
    if (refusal.empty()) refusal = RefuseOddPower(c, "neighbours");
    if (!refusal.empty()) return refusal;
    if (results % vector != 0) return StrCat(results, " results are no whole vectors of ", vector);
    if (c["lanes"] > most) {
      return StrCat("takes up to ", most, " lanes with vectors of ", vector, " and ", neighbours,
                    " neighbours, here are ", c["lanes"]);
    }
    if (c["lanes"] * neighbours % 32 != 0) {
      return StrCat(c["lanes"], " lanes of ", neighbours, " neighbours are no whole warps");
    }
    return RefuseCluster(c, neighbours * vector);
  }
  static abi::LaunchConfig Launch(const abi::Problem&, const abi::Parameters& given) {
    const abi::WholeParameters c(given, kParameters);
    abi::LaunchConfig launch = Launch1d(c["blocks"], c["neighbours"]);
    launch.block[1] = static_cast<uint32_t>(c["lanes"]);
    launch.cluster[0] = static_cast<uint32_t>(c["cluster"]);
    return launch;
  }
  static uint64_t Workspace(const abi::Problem& p, const abi::Parameters& c) {
    return PartsBytes(SpacesOf(kKey, p).domain.Count(0), c);
  }
};

/// In order of preference: ties of predicted cost go to the earlier one.
template <>
struct CudaHosts<abi::Family::kReduce> {
  using List = HostList<ReduceRowsHost, ReduceColumnsHost>;
};

}  // namespace aicf::cuda
