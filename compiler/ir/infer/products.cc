// Matrix products.
#include "compiler/ir/infer/common.h"

namespace aicf::ir {

Status InferGemm(Graph& graph, const Node& node) {
  AICF_RETURN_IF_ERROR(CheckDType(graph, node, 0, kNumbers));
  AICF_RETURN_IF_ERROR(CheckSameDType(graph, node, 0, 1));
  const Dims& a = InShape(graph, node, 0);
  const Dims& b = InShape(graph, node, 1);
  if (a.rank() != 2 || b.rank() != 2) {
    return BadNode("its inputs are ", ToString(a), " and ", ToString(b), ", expected two matrices");
  }
  const int ta = node.Int("transA", 0) != 0 ? 1 : 0;
  const int tb = node.Int("transB", 0) != 0 ? 1 : 0;
  if (a[1 - ta] != b[tb]) {
    return BadNode(ToString(a), ta ? " transposed" : "", " times ", ToString(b),
                   tb ? " transposed" : "", " has inner extents ", a[1 - ta], " and ", b[tb]);
  }
  const Dims out{a[ta], b[1 - tb]};
  if (HasInput(node, 2)) {
    AICF_RETURN_IF_ERROR(CheckSameDType(graph, node, 0, 2));
    const std::optional<Dims> both = BroadcastShapes(out, InShape(graph, node, 2));
    if (!both || !(*both == out)) {
      return BadNode("input C ", ToString(InShape(graph, node, 2)), " does not broadcast to ",
                     ToString(out));
    }
  }
  return SetOutput(graph, node, 0, In(graph, node, 0).dtype, out);
}

Status InferMatMul(Graph& graph, const Node& node) {
  AICF_RETURN_IF_ERROR(CheckDType(graph, node, 0, kNumbers));
  AICF_RETURN_IF_ERROR(CheckSameDType(graph, node, 0, 1));
  Dims a = InShape(graph, node, 0);
  Dims b = InShape(graph, node, 1);
  if (a.rank() == 0 || b.rank() == 0) return BadNode("an input is a scalar");
  const bool row = a.rank() == 1;
  const bool column = b.rank() == 1;
  if (row) a.insert(0, 1);
  if (column) b.push_back(1);
  const auto batch =
      BroadcastShapes(Dims(a.span().first(a.rank() - 2)), Dims(b.span().first(b.rank() - 2)));
  if (!batch || a[a.rank() - 1] != b[b.rank() - 2]) {
    return BadNode("shapes ", ToString(InShape(graph, node, 0)), " and ",
                   ToString(InShape(graph, node, 1)), " do not multiply");
  }
  Dims out = *batch;
  if (!row) out.push_back(a[a.rank() - 2]);
  if (!column) out.push_back(b.back());
  return SetOutput(graph, node, 0, In(graph, node, 0).dtype, out);
}

}  // namespace aicf::ir
