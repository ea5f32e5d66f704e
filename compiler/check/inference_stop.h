/// Where shape inference stops at a graph that it refuses.
#pragma once

#include "compiler/passes/graph/passes.h"

namespace aicf {

struct InferenceStop {
  size_t node = 0;  ///< the refused one; as many as there are when the walk passed all nodes
  ir::Graph graph;  ///< as the walk left it; values have the ids that they had
};

/// REQUIRES: InferAndFold refuses the graph.
InferenceStop FindInferenceStop(const ir::Graph& graph, PassContext& context);

}  // namespace aicf
