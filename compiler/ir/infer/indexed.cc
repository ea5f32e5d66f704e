// Ops that move elements by index (gather, scatter) or run along an axis (CumSum, CumProd).
#include <algorithm>

#include "compiler/ir/infer/common.h"

namespace aicf::ir {
namespace {

// Each index stands for the coordinate along `axis`. Along all other axes, indices must have no
// more positions than the data.
Status CheckElementIndices(const Dims& data, const Dims& index, int axis) {
  if (data.rank() != index.rank()) {
    return BadNode("indices have rank ", index.rank(), ", data ", data.rank());
  }
  for (int d = 0; d < data.rank(); ++d) {
    if (d != axis && index[d] > data[d]) {
      return BadNode("indices have ", index[d], " positions along axis ", d, ", data ", data[d]);
    }
  }
  return OkStatus();
}

// Indices [batch.., i.., n] select [batch.., i.., rest of the data].
Result<Dims> SelectedShape(const Dims& data, const Dims& index, int64_t batch) {
  const int leading = index.rank() - 1;
  if (leading < 0) return BadNode("indices are a scalar");
  const int64_t n = index.back();
  if (batch < 0 || batch > leading || batch + n > data.rank()) {
    return BadNode(batch, " batch axes and ", n, " coordinates for data of rank ", data.rank());
  }
  Dims out;
  for (int d = 0; d < leading; ++d) {
    if (d < batch && index[d] != data[d]) {
      return BadNode("batch axis ", d, " has extents ", index[d], " and ", data[d]);
    }
    out.push_back(index[d]);
  }
  const int first = static_cast<int>(batch + n);
  AICF_RETURN_IF_ERROR(CheckRank(leading + data.rank() - first));
  for (int d = first; d < data.rank(); ++d) out.push_back(data[d]);
  return out;
}

Status CheckReduction(const Node& node) {
  const std::string reduction = node.Str("reduction", "none");
  for (std::string_view known : {"none", "add", "mul", "min", "max"}) {
    if (reduction == known) return OkStatus();
  }
  return BadNode("reduction is '", reduction, "'");
}

}  // namespace

Status InferGatherElements(Graph& graph, const Node& node) {
  const Dims& data = InShape(graph, node, 0);
  AICF_RETURN_IF_ERROR(CheckDType(graph, node, 1, kIntegers));
  AICF_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(node.Int("axis", 0), data.rank()));
  AICF_RETURN_IF_ERROR(CheckElementIndices(data, InShape(graph, node, 1), axis));
  return SetOutput(graph, node, 0, In(graph, node, 0).dtype, InShape(graph, node, 1));
}

Status InferGatherND(Graph& graph, const Node& node) {
  AICF_RETURN_IF_ERROR(CheckDType(graph, node, 1, kIntegers));
  AICF_ASSIGN_OR_RETURN(
      const Dims out,
      SelectedShape(InShape(graph, node, 0), InShape(graph, node, 1), node.Int("batch_dims", 0)));
  return SetOutput(graph, node, 0, In(graph, node, 0).dtype, out);
}

Status InferScatterElements(Graph& graph, const Node& node) {
  const Dims& data = InShape(graph, node, 0);
  AICF_RETURN_IF_ERROR(CheckDType(graph, node, 1, kIntegers));
  AICF_RETURN_IF_ERROR(CheckSameDType(graph, node, 0, 2));
  AICF_RETURN_IF_ERROR(CheckReduction(node));
  AICF_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(node.Int("axis", 0), data.rank()));
  AICF_RETURN_IF_ERROR(CheckElementIndices(data, InShape(graph, node, 1), axis));
  if (InShape(graph, node, 1) != InShape(graph, node, 2)) {
    return BadNode("indices have shape ", ToString(InShape(graph, node, 1)), ", updates ",
                   ToString(InShape(graph, node, 2)));
  }
  return SetOutput(graph, node, 0, In(graph, node, 0).dtype, data);
}

Status InferScatterND(Graph& graph, const Node& node) {
  const Dims& data = InShape(graph, node, 0);
  AICF_RETURN_IF_ERROR(CheckDType(graph, node, 1, kIntegers));
  AICF_RETURN_IF_ERROR(CheckSameDType(graph, node, 0, 2));
  AICF_RETURN_IF_ERROR(CheckReduction(node));
  AICF_ASSIGN_OR_RETURN(const Dims updates, SelectedShape(data, InShape(graph, node, 1), 0));
  if (InShape(graph, node, 2) != updates) {
    return BadNode("updates have shape ", ToString(InShape(graph, node, 2)), ", expected ",
                   ToString(updates));
  }
  return SetOutput(graph, node, 0, In(graph, node, 0).dtype, data);
}

Result<int> ResolveScanAxis(const Graph& graph, const Node& node) {
  AICF_ASSIGN_OR_RETURN(const auto axis, RequiredInts(graph, node, 1, "axis"));
  if (axis.size() != 1) return BadNode("axis has ", axis.size(), " elements, expected 1");
  return NormalizeAxis(axis[0], InShape(graph, node, 0).rank());
}

Status InferCumulative(Graph& graph, const Node& node) {
  AICF_RETURN_IF_ERROR(CheckDType(graph, node, 0, kNumbers));
  AICF_RETURN_IF_ERROR(ResolveScanAxis(graph, node).status());
  return SetOutput(graph, node, 0, In(graph, node, 0).dtype, InShape(graph, node, 0));
}

}  // namespace aicf::ir
