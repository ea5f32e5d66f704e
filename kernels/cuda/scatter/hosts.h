/// What is legal for the scatter kernels.
#pragma once

#include <algorithm>

#include "kernels/cuda/common/host.h"

namespace aicf::cuda {

/// A scatter as `lines` independent problems of `targets` targets and `updates` updates each. A
/// target is a row of `row` elements. For kElements, a line runs along the axis, and a row is one
/// element. For kPoints, there is one line, and the rows run along the axes that the coordinates
/// leave.
struct ScatterExtents {
  int64_t lines = 1, targets = 1, updates = 1, row = 1;

  explicit ScatterExtents(const abi::Problem& p);
  /// Rows of at least a warp's width are walked by whole warps, in chunks.
  int64_t Chunks() const { return row >= 32 ? CeilDiv(row, 1024) : 1; }
};

/// The targets of a line are dealt out to `shares` owners, no two of which have a target in common.
/// In place, elements without an update are not touched.
struct ScatterHostBase : CudaHostBase {
  static constexpr abi::ParameterRange kParameters[] = {
      {"shares", 1, int64_t{1} << 30}, kThreadsRange, kBlocksRange};

  static bool InPlace(const abi::Problem& p, int input) {
    return input == 0 && SameElements(p, input);
  }
  static std::string Refuse(const abi::Problem& p, const abi::Parameters& c,
                            const abi::DeviceSpec&) {
    const ScatterExtents e(p);
    // The kernels count shares of all lines with the instance's index type.
    const int64_t room = kMaxGridStride / std::max<int64_t>(1, e.lines * e.Chunks());
    if (c["shares"] > std::max<int64_t>(1, room)) {
      return StrCat("takes at most ", std::max<int64_t>(1, room), " shares of ", e.lines,
                    " lines, here are ", c["shares"]);
    }
    const std::string refusal = RefuseParts(c, "threads", 32);
    return refusal.empty() ? RefuseStride(c["blocks"], c["threads"]) : refusal;
  }
  static abi::LaunchConfig Launch(const abi::Problem&, const abi::Parameters& c) {
    return Launch1d(c["blocks"], c["threads"]);
  }
};

/// A thread per share of a line.
struct ScatterLinesHost : ScatterHostBase {
  static constexpr std::string_view kKey = "cuda.scatter.lines";
  static constexpr std::string_view kSource = "scatter/lines.cuh";

  static std::string Refusal(const abi::Problem& p, const abi::DeviceSpec&) {
    const bool elements = p.as<abi::ScatterAttrs>().kind == abi::ScatterKind::kElements;
    return elements ? "" : "walks lines of single elements";
  }
};

/// A warp per share of a line, or of a chunk of its rows.
struct ScatterOwnersHost : ScatterHostBase {
  static constexpr std::string_view kKey = "cuda.scatter.owners";
  static constexpr std::string_view kSource = "scatter/owners.cuh";
};

/// In order of preference: ties of predicted cost go to the earlier one.
template <>
struct CudaHosts<abi::Family::kScatter> {
  using List = HostList<ScatterLinesHost, ScatterOwnersHost>;
};

}  // namespace aicf::cuda
