/// Which inputs of an op must be known when compiling, because shapes, axes or loop counts follow
/// from their values.
#pragma once

#include <vector>

#include "compiler/ir/graph.h"

namespace aicf::ir {

/// True when input `i` of the node must be a constant. One row per op in constant_inputs.cc.
bool NeedsConstant(const Node& node, size_t i);

/// The graph's inputs that such an input depends on, through nodes that fold once they are known,
/// in the graph's order: what --bind has to give. Works on an imported graph, before any inference.
std::vector<ValueId> InputsToBind(const Graph& graph);

}  // namespace aicf::ir
