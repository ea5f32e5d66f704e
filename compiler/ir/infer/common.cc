#include "compiler/ir/infer/common.h"

#include <algorithm>

#include "compiler/ir/infer/not_constant.h"
#include "compiler/ir/op_table.h"

namespace aicf::ir {

Status InferNode(Graph& graph, const Node& node) {
  const OpInfo* op = FindOp(node.op);
  const Status status =
      op != nullptr ? op->infer(graph, node) : Error(Code::kInternal, "the op is not in ops.def");
  return status.ok() ? status : status.WithContext(StrCat(node.op, " node ", Quote(node.name)));
}

// Control flow and sequences are expanded before their rule would run.
Status InferExpanded(Graph&, const Node&) { return Error(Code::kInternal, "was not expanded"); }

Status SetOutput(Graph& graph, const Node& node, size_t i, DType dtype, const Dims& shape) {
  if (i >= node.outputs.size() || node.outputs[i] == kNoValue) return OkStatus();
  const std::optional<int64_t> count = ElementCount(shape);
  int64_t bytes = 0;
  if (!count || !CheckedMul(*count, DTypeBytes(dtype), &bytes)) {
    return BadNode("its output would have the impossible shape ", ToListString(shape));
  }
  Value& v = graph.values[node.outputs[i]];
  v.dtype = dtype;
  v.shape = shape;
  v.shape_known = true;
  return OkStatus();
}

Status CheckRank(int64_t rank) {
  if (rank <= kMaxRank) return OkStatus();
  return Error(Code::kUnsupported, "rank ", rank, ", at most ", kMaxRank, " is supported");
}

Status CheckSameDType(const Graph& graph, const Node& node, size_t a, size_t b) {
  const DType da = In(graph, node, a).dtype;
  const DType db = In(graph, node, b).dtype;
  if (da == db) return OkStatus();
  return BadNode("input ", a, " is ", DTypeName(da), " but input ", b, " is ", DTypeName(db));
}

Status CheckDType(const Graph& graph, const Node& node, size_t i, unsigned mask) {
  const DType dtype = In(graph, node, i).dtype;
  if (IsStorageOnly(dtype) && mask != kAny) {
    return BadNode("input ", i, " is ", DTypeName(dtype), ", which is only stored and converted");
  }
  const DTypeKind kind = KindOf(dtype);
  const unsigned bit = kind == DTypeKind::kFloat      ? kFloats
                       : kind == DTypeKind::kSigned   ? kSigned
                       : kind == DTypeKind::kUnsigned ? kUnsigned
                                                      : kBools;
  if ((mask & bit) != 0) return OkStatus();
  return BadNode("input ", i, " is ", DTypeName(dtype), ", which the op does not take");
}

Result<int> NormalizeAxis(int64_t axis, int rank, std::string_view what) {
  if (axis < -rank || axis >= rank) {
    return BadNode(what, " ", axis, " is outside [", -rank, ", ", rank, ")");
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Result<Dims> NormalizeAxes(const std::vector<int64_t>& axes, int rank, std::string_view what) {
  std::vector<bool> seen(rank, false);
  for (int64_t a : axes) {
    AICF_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(a, rank, what));
    if (seen[axis]) return BadNode(what, " names axis ", axis, " twice");
    seen[axis] = true;
  }
  Dims out;
  for (int i = 0; i < rank; ++i) {
    if (seen[i]) out.push_back(i);
  }
  return out;
}

Result<Dims> ToDims(const std::vector<int64_t>& values) {
  AICF_RETURN_IF_ERROR(CheckRank(static_cast<int64_t>(values.size())));
  return Dims(std::span(values));
}

Result<std::optional<std::vector<int64_t>>> ConstantInts(const Graph& graph, const Node& node,
                                                         size_t input, std::string_view what) {
  using Ints = std::optional<std::vector<int64_t>>;
  if (!HasInput(node, input)) return Ints();
  const Value& v = In(graph, node, input);
  if (!IsInteger(v.dtype)) return BadNode(what, " is ", DTypeName(v.dtype), ", expected integers");
  if (v.shape.rank() > 1) return BadNode(what, " has rank ", v.shape.rank(), ", expected 1");
  if (!v.is_constant()) return NotConstant(graph, node.inputs[input], what);
  std::vector<int64_t> ints(v.constant.count());
  for (size_t i = 0; i < ints.size(); ++i) ints[i] = v.constant.IntAt(static_cast<int64_t>(i));
  return Ints(std::move(ints));
}

Result<std::vector<int64_t>> RequiredInts(const Graph& graph, const Node& node, size_t input,
                                          std::string_view what) {
  AICF_ASSIGN_OR_RETURN(auto ints, ConstantInts(graph, node, input, what));
  if (!ints) return BadNode(what, " is absent");
  return *std::move(ints);
}

}  // namespace aicf::ir
