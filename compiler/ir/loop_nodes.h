/// Loops in a graph. The nodes between aicf.LoopBegin and aicf.LoopEnd repeat while a condition
/// holds, which is tested before every trip:
///
///   (go, s...) = aicf.LoopBegin(go0, s0...) {id=1}
///   ...                                     nodes that read go, s and whatever is around the loop
///   (last, t...) = aicf.LoopEnd(go, s..., go', s'...) {id=1}
///
/// s is s0 in the first trip and s' of the trip before in the others; t is what s would be in the
/// next one. Dtype and shape stay. What is made between the two nodes is used between them only.
/// Loops nest; each has an id of its own, so that no two of them look alike.
#pragma once

#include <string_view>
#include <vector>

#include "base/status.h"
#include "compiler/ir/graph.h"

namespace aicf::ir {

inline constexpr std::string_view kLoopBegin = "aicf.LoopBegin";
inline constexpr std::string_view kLoopEnd = "aicf.LoopEnd";

/// By node: the id of the innermost loop around it, to which its first and last node belong, too;
/// -1 outside. REQUIRES: CheckLoops holds.
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
