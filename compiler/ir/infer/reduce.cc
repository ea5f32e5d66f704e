// Reductions, and the axes that they, Squeeze and Unsqueeze name.
#include "compiler/ir/infer/common.h"

namespace aicf::ir {
namespace {

Dims AllAxes(int rank) {
  Dims axes;
  for (int i = 0; i < rank; ++i) axes.push_back(i);
  return axes;
}

Dims UnitAxes(const Dims& shape) {
  Dims axes;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] == 1) axes.push_back(i);
  }
  return axes;
}

Dims DropAxes(const Dims& shape, const Dims& axes, bool keep) {
  Dims out = shape;
  for (int i = axes.rank(); i-- > 0;) {
    const int axis = static_cast<int>(axes[i]);
    if (keep) out[axis] = 1;
    if (!keep) out.erase(axis);
  }
  return out;
}

unsigned ReduceMask(std::string_view op) {
  return op == "ReduceMax" || op == "ReduceMin" ? kAny : kNumbers;
}

}  // namespace

Result<Dims> ResolveAxes(const Graph& graph, const Node& node) {
  const Dims& in = InShape(graph, node, 0);
  AICF_ASSIGN_OR_RETURN(const auto axes, ConstantInts(graph, node, 1, "axes"));
  if (node.op == "Unsqueeze") {
    if (!axes) return BadNode("axes is absent");
    const int64_t rank = in.rank() + static_cast<int64_t>(axes->size());
    AICF_RETURN_IF_ERROR(CheckRank(rank));
    return NormalizeAxes(*axes, static_cast<int>(rank));
  }
  if (node.op == "Squeeze") return axes ? NormalizeAxes(*axes, in.rank()) : UnitAxes(in);
  if (axes && !axes->empty()) return NormalizeAxes(*axes, in.rank());
  return node.Int("noop_with_empty_axes", 0) != 0 ? Dims() : AllAxes(in.rank());
}

Status InferReduce(Graph& graph, const Node& node) {
  AICF_RETURN_IF_ERROR(CheckDType(graph, node, 0, ReduceMask(node.op)));
  AICF_ASSIGN_OR_RETURN(const Dims axes, ResolveAxes(graph, node));
  const bool keep = node.Int("keepdims", 1) != 0;
  return SetOutput(graph, node, 0, In(graph, node, 0).dtype,
                   DropAxes(InShape(graph, node, 0), axes, keep));
}

Status InferArg(Graph& graph, const Node& node) {
  AICF_RETURN_IF_ERROR(CheckDType(graph, node, 0, kNumbers));
  const Dims& in = InShape(graph, node, 0);
  AICF_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(node.Int("axis", 0), in.rank()));
  if (in[axis] == 0) return BadNode("axis ", axis, " of ", ToString(in), " has no element");
  const bool keep = node.Int("keepdims", 1) != 0;
  return SetOutput(graph, node, 0, DType::kI64, DropAxes(in, {axis}, keep));
}

}  // namespace aicf::ir
