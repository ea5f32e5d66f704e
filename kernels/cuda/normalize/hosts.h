/// What is legal for the normalize kernels.
#pragma once

#include "kernels/cuda/common/host.h"

namespace aicf::cuda {

/// Results may overwrite the input: passes that read a row again end before its first store, and
/// every element is read before its own result is stored.
struct NormalizeHostBase : CudaHostBase {
  static bool InPlace(const abi::Problem& p, int input) { return SameElements(p, input); }
};

/// Neighbouring threads walk the normalised axes: `lanes` threads per row or, with a cluster,
/// that many in each of its blocks.
struct NormalizeRowsHost : NormalizeHostBase {
  static constexpr std::string_view kKey = "cuda.normalize.rows";
  static constexpr std::string_view kSource = "normalize/rows.cuh";
  static constexpr abi::ParameterRange kParameters[] = {{"lanes", 1, kMaxThreads},
                                                        {"rows_per_block", 1, kMaxThreads},
                                                        kBlocksRange,
                                                        {"cluster", 1, 8, 1}};
  /// Shared memory for what a block knows of a row: a value of 8 bytes for each of two sums.
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

/// If a group of the first core operand consists of several runs of memory: the number of elements
/// in such a run (1 if no two elements of a group are neighbours in memory). If it is a single run:
/// 0.
int64_t RunOfGroup(const abi::Problem& problem);

/// Neighbouring threads walk the runs that neighbouring groups have of one line in memory. Each
/// block of a cluster has `lanes` threads in each of `groups` runs, and takes `lines` lines at a
/// time.
struct NormalizeInterleavedHost : NormalizeHostBase {
  static constexpr std::string_view kKey = "cuda.normalize.interleaved";
  static constexpr std::string_view kSource = "normalize/interleaved.cuh";
  static constexpr abi::ParameterRange kParameters[] = {{"groups", 1, kMaxThreads},
                                                        {"lanes", 1, kMaxThreads},
                                                        {"lines", 1, kMaxThreads},
                                                        kVectorRange,
                                                        kBlocksRange,
                                                        {"cluster", 1, 8, 1}};

  /// Longer runs are for cuda.normalize.rows, which walks each group by itself.
  static constexpr int64_t kLongestRun = 128;

  static std::string Refusal(const abi::Problem& p, const abi::DeviceSpec&);
  static std::string Refuse(const abi::Problem& p, const abi::Parameters& given,
                            const abi::DeviceSpec&);
  static abi::LaunchConfig Launch(const abi::Problem&, const abi::Parameters& given);
};

/// How the elements of the first core operand lie in memory. A line has `groups` runs of `run`
/// elements next to each other, each of which belongs to one group; each of `batches` batches has
/// `lines` lines. A group has one run in each line of its batch.
struct GroupedLines {
  int64_t run, groups, lines, batches;
};
GroupedLines GroupedLinesOf(const abi::Problem& problem);

/// Neighbouring threads walk the stretch that `groups` groups have of a line, in vectors that need
/// not end where a group does. Each block of a cluster takes `lines` lines at a time.
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
