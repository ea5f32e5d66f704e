// The ops behind data-dependent extents (compiler/ir/dynamic_extent.h). No model names them.
#include "compiler/ir/infer/common.h"

namespace aicf::ir {
namespace {

Result<int> AxisOf(const Graph& graph, const Node& node) {
  return NormalizeAxis(node.Int("axis", 0), InShape(graph, node, 0).rank());
}

}  // namespace

// The value itself; `count` says how many of the axis' positions hold data.
Status InferCounted(Graph& graph, const Node& node) {
  const Value& count = In(graph, node, 1);
  AICF_RETURN_IF_ERROR(AxisOf(graph, node).status());
  if (count.dtype != DType::kI64 || ElementCount(count.shape) != 1) {
    return BadNode("the count is ", DTypeName(count.dtype), " ", ToString(count.shape));
  }
  return SetOutput(graph, node, 0, In(graph, node, 0).dtype, InShape(graph, node, 0));
}

// i64 of the input's shape: every element's coordinate along the axis. The input is not read.
Status InferPositions(Graph& graph, const Node& node) {
  AICF_RETURN_IF_ERROR(AxisOf(graph, node).status());
  return SetOutput(graph, node, 0, DType::kI64, InShape(graph, node, 0));
}

}  // namespace aicf::ir
