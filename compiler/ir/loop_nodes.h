/// Loops in a graph. The nodes between aicf.LoopBegin and aicf.LoopEnd repeat while a condition
/// holds, which is tested before every trip:
///
///   (go, s...) = aicf.LoopBegin(go0, s0...) {id=1}
///   ...                                     nodes that read go, s and whatever is around the loop
///   (last, t...) = aicf.LoopEnd(go, s..., go', s'...) {id=1}
///
/// In the first trip s is s0, in the others it is s' of the trip before; t is what s would be in
/// the next trip. Dtype and shape do not change. Values made between the two nodes are used only
/// between them. Loops nest; each has an id of its own, so that no two of them look alike.
#pragma once

#include <string_view>
#include <vector>

#include "base/status.h"
#include "compiler/ir/graph.h"

namespace aicf::ir {

inline constexpr std::string_view kLoopBegin = "aicf.LoopBegin";
inline constexpr std::string_view kLoopEnd = "aicf.LoopEnd";

/// For each node, the id of the innermost loop around it; -1 outside of loops. The first and the
/// last node of a loop belong to it. REQUIRES: CheckLoops holds.
std::vector<int64_t> LoopIds(const Graph& graph);

/// What Verify(graph) and CheckLoops return for a graph that breaks a rule.
template <class... Pieces>
Status BrokenGraph(const Pieces&... pieces) {
  return Error(Code::kInternal, "graph: ", pieces...);
}

/// Begins and ends match, and no value leaves its loop. REQUIRES: ids in range, topological order.
/// Errors: kInternal.
Status CheckLoops(const Graph& graph);

}  // namespace aicf::ir
