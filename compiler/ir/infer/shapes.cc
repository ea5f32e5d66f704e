// Ops whose result is known from shapes or from constant scalars alone.
#include <cmath>
#include <limits>

#include "compiler/ir/infer/common.h"
#include "compiler/ir/infer/not_constant.h"

namespace aicf::ir {
namespace {

Status RequireConstantScalar(const Graph& graph, const Node& node, size_t i,
                             std::string_view what) {
  const Value& v = In(graph, node, i);
  if (ElementCount(v.shape) != 1) return BadNode(what, " has shape ", ToString(v.shape));
  if (v.is_constant()) return OkStatus();
  return NotConstant(graph, node.inputs[i], what);
}

Result<int64_t> FloatRangeLength(double start, double limit, double delta) {
  if (delta == 0) return BadNode("delta is 0");
  const double length = std::ceil((limit - start) / delta);
  if (std::isnan(length) || length > 0x1p62) return BadNode("it has no finite length");
  return length > 0 ? static_cast<int64_t>(length) : 0;
}

Result<int64_t> IntRangeLength(int64_t start, int64_t limit, int64_t delta) {
  if (delta == 0) return BadNode("delta is 0");
  if (delta > 0 ? start >= limit : start <= limit) return int64_t{0};
  int64_t span = 0;
  const bool fits = delta > 0 ? CheckedSub(limit, start, &span) : CheckedSub(start, limit, &span);
  if (!fits || delta == std::numeric_limits<int64_t>::min()) return BadNode("its length overflows");
  return (span - 1) / (delta > 0 ? delta : -delta) + 1;
}

}  // namespace

Status InferConstantOfShape(Graph& graph, const Node& node) {
  AICF_ASSIGN_OR_RETURN(const auto request, RequiredInts(graph, node, 0, "shape"));
  AICF_ASSIGN_OR_RETURN(const Dims shape, ToDims(request));
  DType dtype = DType::kF32;
  if (node.Has("value")) {
    const Tensor* value = std::get_if<Tensor>(&node.attrs.find("value")->second);
    if (value == nullptr || value->count() != 1) return BadNode("value is not one element");
    dtype = value->dtype();
  }
  return SetOutput(graph, node, 0, dtype, shape);
}

Status InferRange(Graph& graph, const Node& node) {
  constexpr std::string_view kNames[] = {"start", "limit", "delta"};
  AICF_RETURN_IF_ERROR(CheckDType(graph, node, 0, kNumbers));
  for (size_t i = 0; i < 3; ++i) {
    AICF_RETURN_IF_ERROR(CheckSameDType(graph, node, 0, i));
    AICF_RETURN_IF_ERROR(RequireConstantScalar(graph, node, i, kNames[i]));
  }
  const auto tensor = [&](size_t i) -> const Tensor& { return In(graph, node, i).constant; };
  const DType dtype = tensor(0).dtype();
  AICF_ASSIGN_OR_RETURN(
      const int64_t length,
      IsFloat(dtype)
          ? FloatRangeLength(tensor(0).FloatAt(0), tensor(1).FloatAt(0), tensor(2).FloatAt(0))
          : IntRangeLength(tensor(0).IntAt(0), tensor(1).IntAt(0), tensor(2).IntAt(0)));
  return SetOutput(graph, node, 0, dtype, {length});
}

Status InferShapeOf(Graph& graph, const Node& node) {
  const int64_t rank = InShape(graph, node, 0).rank();
  // Unlike elsewhere, axes out of range are clamped.
  const auto clamp = [&](int64_t axis) {
    const int64_t at = axis < 0 ? (axis < -rank ? 0 : axis + rank) : axis;
    return at > rank ? rank : at;
  };
  const int64_t start = clamp(node.Int("start", 0));
  const int64_t end = clamp(node.Int("end", rank));
  return SetOutput(graph, node, 0, DType::kI64, {end > start ? end - start : 0});
}

Status InferSizeOf(Graph& graph, const Node& node) {
  return SetOutput(graph, node, 0, DType::kI64, {});
}

}  // namespace aicf::ir
