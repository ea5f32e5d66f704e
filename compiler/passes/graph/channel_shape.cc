#include "compiler/passes/graph/channel_shape.h"

namespace aicf {

Dims ChannelShape(int rank, int64_t channels) {
  Dims shape = Dims::Filled(rank, 1);
  shape[1] = channels;
  return shape;
}

ir::ValueId PerChannel(ir::Graph& graph, ValueMaker& make, const ir::Node& node, ir::ValueId bias) {
  const ir::Value v = graph.values[bias];
  const Dims shape = ChannelShape(graph.values[node.outputs[0]].shape.rank(), v.shape[0]);
  const ir::ValueId to = make.Ints(StrCat(v.name, " shape"), shape.span());
  const ir::ValueId out = make.Value(v.name, v.dtype, shape);
  graph.nodes.push_back({"Reshape", node.name, {bias, to}, {out}, {}, {}});
  return out;
}

}  // namespace aicf
