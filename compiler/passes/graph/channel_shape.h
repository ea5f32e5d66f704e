/// Numbers for each channel of a convolution's result, in shapes that broadcast to it.
#pragma once

#include "compiler/ir/graph.h"
#include "compiler/passes/graph/rewrite.h"

namespace aicf {

/// [1, channels, 1..] of this rank, which is at least 2.
Dims ChannelShape(int rank, int64_t channels);

/// Appends a Reshape of a bias [O] to that shape to the graph's nodes, in the name of the
/// convolution `node`, and gives its value.
ir::ValueId PerChannel(ir::Graph& graph, ValueMaker& make, const ir::Node& node, ir::ValueId bias);

}  // namespace aicf
