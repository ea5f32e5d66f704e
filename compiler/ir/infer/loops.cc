// The two ends of a loop that runs (compiler/ir/loop_nodes.h). No model names them.
#include "compiler/ir/infer/common.h"

namespace aicf::ir {
namespace {

Status CheckCondition(const Graph& graph, const Node& node) {
  const Value& go = In(graph, node, 0);
  if (go.dtype == DType::kBool && go.shape.rank() == 0) return OkStatus();
  return BadNode("the condition is ", DTypeName(go.dtype), " ", ToString(go.shape));
}

}  // namespace

Status InferLoopBegin(Graph& graph, const Node& node) {
  AICF_RETURN_IF_ERROR(CheckCondition(graph, node));
  if (node.inputs.size() != node.outputs.size()) {
    return BadNode(node.inputs.size(), " values enter, ", node.outputs.size(), " are carried");
  }
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    AICF_RETURN_IF_ERROR(
        SetOutput(graph, node, i, In(graph, node, i).dtype, InShape(graph, node, i)));
  }
  return OkStatus();
}

Status InferLoopEnd(Graph& graph, const Node& node) {
  AICF_RETURN_IF_ERROR(CheckCondition(graph, node));
  const size_t count = node.outputs.size();
  if (node.inputs.size() != 2 * count) {
    return BadNode(node.inputs.size(), " inputs for ", count, " carried values");
  }
  for (size_t i = 0; i < count; ++i) {
    const Value &before = In(graph, node, i), &after = In(graph, node, count + i);
    if (before.dtype != after.dtype || before.shape != after.shape) {
      return BadNode("carried value ", i, " is ", DTypeName(before.dtype), " ",
                     ToString(before.shape), ", after a trip ", DTypeName(after.dtype), " ",
                     ToString(after.shape));
    }
    AICF_RETURN_IF_ERROR(SetOutput(graph, node, i, before.dtype, before.shape));
  }
  return OkStatus();
}

}  // namespace aicf::ir
