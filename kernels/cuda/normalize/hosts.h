/// What is legal for the normalize kernels.
#pragma once

#include "kernels/cuda/common/host.h"

namespace aicf::cuda {

/// Re-reading passes end before the first store of a row, which reads an element before it is
/// replaced.
struct NormalizeHostBase : CudaHostBase {
  static bool InPlace(const abi::Problem& p, int input) { return SameElements(p, input); }
};

/// Neighbouring threads walk the normalised axes: `lanes` threads per row, or with a cluster as
/// many in each of its blocks.
struct NormalizeRowsHost : NormalizeHostBase {
  static constexpr std::string_view kKey = "cuda.normalize.rows";
  static constexpr std::string_view kSource = "normalize/rows.cuh";
  static constexpr abi::ParameterRange kParameters[] = {{"lanes", 1, kMaxThreads},
                                                        {"rows_per_block", 1, kMaxThreads},
                                                        kBlocksRange,
                                                        {"cluster", 1, 8, 1}};
  /// What a block knows of a row: a value of 8 bytes for each of two sums.
  static constexpr uint32_t kClusterSharedBytes = 16;

  static std::string Refuse(const abi::Problem&, const abi::Parameters& given,
                            const abi::DeviceSpec&) {
    const abi::WholeParameters c(given, kParameters);
    const int64_t together = c["rows_per_block"], threads = c["lanes"] * together;
    if (threads % 32 != 0 || threads > kMaxThreads) {
      return StrCat("takes lanes x rows_per_block in multiples of 32 up to 1024, here are ",
                    threads);
    }
    if (c["cluster"] > 1 && together > 1) return "a cluster works on one row at a time";
    if (c["blocks"] % c["cluster"] != 0) {
      return StrCat(c["blocks"], " blocks are no whole clusters of ", c["cluster"]);
    }
    const std::string refusal = RefuseOddPower(c, "lanes");
    return refusal.empty() ? RefuseStride(c["blocks"], together) : refusal;
  }
  static abi::LaunchConfig Launch(const abi::Problem&, const abi::Parameters& given) {
    const abi::WholeParameters c(given, kParameters);
    abi::LaunchConfig launch = Launch1d(c["blocks"], c["lanes"]);
    launch.block[1] = static_cast<uint32_t>(c["rows_per_block"]);
    launch.cluster[0] = static_cast<uint32_t>(c["cluster"]);
    if (c["cluster"] > 1) launch.dynamic_shared_bytes = kClusterSharedBytes;
    return launch;
  }
};

/// Neighbouring threads walk the rows, 32 of them per block; `lanes` share each.
struct NormalizeColumnsHost : NormalizeHostBase {
  static constexpr std::string_view kKey = "cuda.normalize.columns";
  static constexpr std::string_view kSource = "normalize/columns.cuh";
  static constexpr abi::ParameterRange kParameters[] = {{"lanes", 1, 32}, kBlocksRange};

  static std::string Refuse(const abi::Problem&, const abi::Parameters& c, const abi::DeviceSpec&) {
    return RefuseStride(c["blocks"], 32);
  }
  static abi::LaunchConfig Launch(const abi::Problem&, const abi::Parameters& c) {
    abi::LaunchConfig launch = Launch1d(c["blocks"], 32);
    launch.block[1] = static_cast<uint32_t>(c["lanes"]);
    return launch;
  }
};

/// Elements of a group that follow each other in memory, where the groups of the first core operand
/// are made of several such runs; 0 where each is one run. A group without neighbours in memory has
/// runs of one element.
int64_t RunOfGroup(const abi::Problem& problem);

/// Neighbouring threads walk the runs that neighbouring groups have of one line in memory: `lanes`
/// threads in each of `groups` runs, `lines` lines at a time, in each block of a cluster.
struct NormalizeInterleavedHost : NormalizeHostBase {
  static constexpr std::string_view kKey = "cuda.normalize.interleaved";
  static constexpr std::string_view kSource = "normalize/interleaved.cuh";
  static constexpr abi::ParameterRange kParameters[] = {{"groups", 1, kMaxThreads},
                                                        {"lanes", 1, kMaxThreads},
                                                        {"lines", 1, kMaxThreads},
                                                        kVectorRange,
                                                        kBlocksRange,
                                                        {"cluster", 1, 8, 1}};

  /// Longer runs are for the rows kernel, which walks a group by itself.
  static constexpr int64_t kLongestRun = 128;

  static std::string Refusal(const abi::Problem& p, const abi::DeviceSpec&);
  static std::string Refuse(const abi::Problem& p, const abi::Parameters& given,
                            const abi::DeviceSpec&);
  static abi::LaunchConfig Launch(const abi::Problem&, const abi::Parameters& given);
};

/// Elements of the first core operand by where they lie: runs of neighbours that belong to one
/// group, `groups` runs next to each other in a line, `lines` lines for each of `batches`. A group
/// has a run of each line of a batch.
struct GroupedLines {
  int64_t run, groups, lines, batches;
};
GroupedLines GroupedLinesOf(const abi::Problem& problem);

/// Neighbouring threads walk a stretch of a line that `groups` groups have, in vectors that need
/// not end where a group does, `lines` lines at a time, in each block of a cluster.
struct NormalizeLinesHost : NormalizeHostBase {
  static constexpr std::string_view kKey = "cuda.normalize.lines";
  static constexpr std::string_view kSource = "normalize/lines.cuh";
  static constexpr abi::ParameterRange kParameters[] = {{"groups", 1, kMaxThreads* kMaxVector},
                                                        {"lines", 1, kMaxThreads},
                                                        kVectorRange,
                                                        {"cluster", 1, 16}};

  static std::string Refusal(const abi::Problem& p, const abi::DeviceSpec&);
  static std::string Refuse(const abi::Problem& p, const abi::Parameters& c,
                            const abi::DeviceSpec&);
  static abi::LaunchConfig Launch(const abi::Problem& p, const abi::Parameters& c);
};

/// In order of preference: ties of predicted cost go to the earlier one.
template <>
struct CudaHosts<abi::Family::kNormalize> {
  using List = HostList<NormalizeRowsHost, NormalizeLinesHost, NormalizeInterleavedHost,
                        NormalizeColumnsHost>;
};

}  // namespace aicf::cuda
