/// Which inputs of an op must be known when compiling, because shapes, axes or loop counts follow
/// from their values.
#pragma once

#include <vector>

#include "compiler/ir/graph.h"

namespace aicf::ir {

/// True when input `i` of the node must be a constant. One row per op in constant_inputs.cc.
bool NeedsConstant(const Node& node, size_t i);

/// The graph's inputs, in the graph's order, on which an input that must be constant depends,
/// through nodes that fold once their operands are known. These are what --bind has to give. Works
/// on an imported graph, before any inference.
std::vector<ValueId> InputsToBind(const Graph& graph);

}  // namespace aicf::ir
