#include "compiler/check/inference_stop.h"

#include <algorithm>

namespace aicf {
namespace {

ir::ValueId AddTrue(ir::Graph& graph) {
  const uint8_t byte = 1;
  ir::Value value;
  value.name = graph.UniqueName("check");
  value.dtype = DType::kBool;
  value.shape_known = true;
  value.constant = ir::Tensor::FromValues<uint8_t>(DType::kBool, {}, {{byte}});
  return graph.AddValue(std::move(value));
}

}  // namespace

// An error says why the walk stopped, not where: a mark after every node, which has a shape once
// the walk has passed it, does.
InferenceStop FindInferenceStop(const ir::Graph& graph, PassContext& context) {
  InferenceStop stop{0, graph};
  const ir::ValueId constant = AddTrue(stop.graph);
  std::vector<ir::Node> nodes;
  std::vector<ir::ValueId> marks;
  for (ir::Node& node : stop.graph.nodes) {
    ir::Value passed;
    passed.name = StrCat(stop.graph.values[constant].name, "/", marks.size());
    marks.push_back(stop.graph.AddValue(std::move(passed)));
    ir::Node mark;
    mark.op = "Identity";
    mark.name = StrCat(node.name, "/passed");
    mark.inputs = {constant};
    mark.outputs = {marks.back()};
    nodes.push_back(std::move(node));
    nodes.push_back(std::move(mark));
  }
  stop.graph.nodes = std::move(nodes);
  (void)InferAndFold(stop.graph, context).ok();
  const auto first =
      std::ranges::find_if(marks, [&](ir::ValueId v) { return !stop.graph.values[v].shape_known; });
  stop.node = static_cast<size_t>(first - marks.begin());
  return stop;
}

}  // namespace aicf
