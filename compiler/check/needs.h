/// Where values that must be known while compiling come from.
#pragma once

#include <vector>

#include "compiler/ir/graph.h"

namespace aicf {

/// The node's inputs, and values that its subgraphs read, which must be constants: its own rule
/// says so or one inside of it.
std::vector<ir::ValueId> MustBeConstant(const ir::Graph& graph, const ir::Node& node);

/// The graph's inputs that the value follows from, through nodes that fold once those are
/// constants, in the graph's order.
std::vector<ir::ValueId> InputsBehind(const ir::Graph& graph, ir::ValueId value);

}  // namespace aicf
