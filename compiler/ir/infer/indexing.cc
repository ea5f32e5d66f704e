// Gather and TopK.
#include "compiler/ir/infer/common.h"

namespace aicf::ir {
namespace {

// A constant index that is out of range is the model's fault; one computed at run time reads as
// zero. Tables of indices may have millions of elements, so the switch over their dtype is outside
// the loop.
Status CheckConstantIndices(const Value& indices, int64_t extent) {
  if (!indices.is_constant()) return OkStatus();
  const int64_t count = indices.constant.count();
  return VisitStorage(indices.dtype, [&](auto stored) -> Status {
    for (int64_t i = 0; i < count; ++i) {
      const auto at = static_cast<int64_t>(indices.constant.at<decltype(stored)>(i));
      if (at < -extent || at >= extent) {
        return BadNode("index ", at, " is outside an axis of extent ", extent);
      }
    }
    return OkStatus();
  });
}

}  // namespace

Status InferGather(Graph& graph, const Node& node) {
  const Dims& data = InShape(graph, node, 0);
  const Value& indices = In(graph, node, 1);
  AICF_RETURN_IF_ERROR(CheckDType(graph, node, 1, kIntegers));
  AICF_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(node.Int("axis", 0), data.rank()));
  AICF_RETURN_IF_ERROR(CheckRank(data.rank() - 1 + indices.shape.rank()));
  AICF_RETURN_IF_ERROR(CheckConstantIndices(indices, data[axis]));
  Dims out(data.span().first(axis));
  for (int64_t e : indices.shape) out.push_back(e);
  for (int64_t e : data.span().subspan(axis + 1)) out.push_back(e);
  return SetOutput(graph, node, 0, In(graph, node, 0).dtype, out);
}

Status InferTopK(Graph& graph, const Node& node) {
  AICF_RETURN_IF_ERROR(CheckDType(graph, node, 0, kNumbers));
  AICF_ASSIGN_OR_RETURN(const auto k, RequiredInts(graph, node, 1, "k"));
  if (k.size() != 1) return BadNode("k has ", k.size(), " elements, expected 1");
  Dims out = InShape(graph, node, 0);
  AICF_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(node.Int("axis", -1), out.rank()));
  if (k[0] < 0 || k[0] > out[axis]) {
    return BadNode("k is ", k[0], " on an axis of extent ", out[axis]);
  }
  out[axis] = k[0];
  AICF_RETURN_IF_ERROR(SetOutput(graph, node, 0, In(graph, node, 0).dtype, out));
  return SetOutput(graph, node, 1, DType::kI64, out);
}

}  // namespace aicf::ir
