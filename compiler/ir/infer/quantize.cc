// Quantisation, and products of quantised integers.
#include "compiler/ir/infer/common.h"

namespace aicf::ir {
namespace {

// Quantised values: integers that fit 16 bits, float8 (not the scale type) and float4.
bool IsQuantized(DType d) {
  if (d == DType::kF8E8M0) return false;
  return IsInteger(d) ? DTypeBytes(d) <= 2 : IsFloat(d) && IsStorageOnly(d);
}

Status CheckQuantized(const Graph& graph, const Node& node, size_t i, bool i32) {
  const DType d = In(graph, node, i).dtype;
  if (IsQuantized(d) || (i32 && d == DType::kI32)) return OkStatus();
  return BadNode("input ", i, " is ", DTypeName(d), ", expected a quantised type");
}

// Scales are floats, or float8 with an exponent alone.
Status CheckScale(const Graph& graph, const Node& node, size_t i) {
  if (In(graph, node, i).dtype == DType::kF8E8M0) return OkStatus();
  return CheckDType(graph, node, i, kFloats);
}

Result<DType> NamedDType(const Node& node, std::string_view key) {
  const std::string name = node.Str(key, "");
  const std::optional<DType> dtype = ParseDType(name);
  if (!dtype) return BadNode("attribute '", key, "' is ", Quote(name), ", expected a dtype");
  return *dtype;
}

bool IsOne(const Dims& shape) { return ElementCount(shape) == 1; }

Result<QuantizeSpec> PerAxis(const Node& node, const Dims& x, const Dims& scale) {
  QuantizeSpec spec;
  // The default axis is 1, which a vector does not have.
  if (x.rank() != 1) {
    AICF_ASSIGN_OR_RETURN(spec.axis, NormalizeAxis(node.Int("axis", 1), x.rank()));
  }
  spec.block = 1;
  if (scale.rank() == 1 && x.rank() > 0 && scale[0] == x[spec.axis]) return spec;
  return BadNode("scale ", ToString(scale), " does not fit axis ", spec.axis, " of ", ToString(x));
}

Result<QuantizeSpec> Blocked(const Node& node, const Dims& x, const Dims& scale, int64_t block) {
  QuantizeSpec spec;
  AICF_ASSIGN_OR_RETURN(spec.axis, NormalizeAxis(node.Int("axis", 1), x.rank()));
  spec.block = block;
  Dims want = x;
  want[spec.axis] = CeilDiv(x[spec.axis], block);
  if (scale == want) return spec;
  return BadNode("scale ", ToString(scale), " does not fit blocks of ", block, " along axis ",
                 spec.axis, " of ", ToString(x), ", expected ", ToString(want));
}

// A zero point has the dtype of what it belongs to, and one element or the shape of the scale.
Status CheckZeroPoint(const Graph& graph, const Node& node, size_t zero, size_t scale,
                      DType dtype) {
  if (!HasInput(node, zero)) return OkStatus();
  if (In(graph, node, zero).dtype != dtype) {
    return BadNode("zero point is ", DTypeName(In(graph, node, zero).dtype), ", expected ",
                   DTypeName(dtype));
  }
  const Dims& shape = InShape(graph, node, zero);
  const Dims& want = InShape(graph, node, scale);
  if (IsOne(shape) || shape == want) return OkStatus();
  return BadNode("zero point has shape ", ToString(shape), ", expected ", ToString(want));
}

Result<DType> QuantizedDType(const Graph& graph, const Node& node) {
  const bool named = node.Has("output_dtype");
  DType dtype = DType::kU8;
  if (named) {
    AICF_ASSIGN_OR_RETURN(dtype, NamedDType(node, "output_dtype"));
  }
  if (!HasInput(node, 2)) return dtype;
  const DType zero = In(graph, node, 2).dtype;
  if (!named || zero == dtype) return zero;
  return BadNode("output_dtype is ", DTypeName(dtype), " but the zero point is ", DTypeName(zero));
}

}  // namespace

Result<QuantizeSpec> ResolveQuantize(const Graph& graph, const Node& node) {
  const Dims& x = InShape(graph, node, 0);
  const Dims& scale = InShape(graph, node, 1);
  const int64_t block = node.Int("block_size", 0);
  if (block < 0) return BadNode("block_size is ", block);
  if (IsOne(scale) && (block == 0 || scale.rank() <= 1)) return QuantizeSpec{};
  return block == 0 ? PerAxis(node, x, scale) : Blocked(node, x, scale, block);
}

Status InferQuantizeLinear(Graph& graph, const Node& node) {
  AICF_RETURN_IF_ERROR(CheckDType(graph, node, 0, kFloats | kSigned));
  if (In(graph, node, 1).dtype != DType::kI32) AICF_RETURN_IF_ERROR(CheckScale(graph, node, 1));
  AICF_ASSIGN_OR_RETURN(const DType to, QuantizedDType(graph, node));
  if (!IsQuantized(to)) return BadNode(DTypeName(to), " is no quantised type");
  if (node.Has("precision")) AICF_RETURN_IF_ERROR(NamedDType(node, "precision").status());
  AICF_RETURN_IF_ERROR(ResolveQuantize(graph, node).status());
  AICF_RETURN_IF_ERROR(CheckZeroPoint(graph, node, 2, 1, to));
  return SetOutput(graph, node, 0, to, InShape(graph, node, 0));
}

Status InferDequantizeLinear(Graph& graph, const Node& node) {
  AICF_RETURN_IF_ERROR(CheckQuantized(graph, node, 0, true));
  AICF_RETURN_IF_ERROR(CheckScale(graph, node, 1));
  DType to = In(graph, node, 1).dtype;
  if (node.Has("output_dtype")) {
    AICF_ASSIGN_OR_RETURN(to, NamedDType(node, "output_dtype"));
  }
  if (!IsFloat(to)) return BadNode("output_dtype is ", DTypeName(to), ", expected a float");
  // A scale that is only an exponent says nothing about the result's precision.
  if (to == DType::kF8E8M0) to = DType::kF32;
  AICF_RETURN_IF_ERROR(ResolveQuantize(graph, node).status());
  AICF_RETURN_IF_ERROR(CheckZeroPoint(graph, node, 2, 1, In(graph, node, 0).dtype));
  return SetOutput(graph, node, 0, to, InShape(graph, node, 0));
}

namespace {

// One element, or one per row ([M] or [.., M, 1]) or per column ([N] or [.., 1, N]) of a matrix.
Status CheckMatrixParameter(const Graph& graph, const Node& node, size_t i, const Dims& matrix,
                            bool rows) {
  if (!HasInput(node, i)) return OkStatus();
  const Dims& shape = InShape(graph, node, i);
  if (IsOne(shape)) return OkStatus();
  const int rank = matrix.rank();
  Dims want = matrix;
  if (rank >= 2) {
    want[rank - (rows ? 1 : 2)] = 1;
    if (shape == want || shape == Dims{matrix[rank - (rows ? 2 : 1)]}) return OkStatus();
  }
  return BadNode("input ", i, " has shape ", ToString(shape),
                 ", expected a scalar or one value per ", rows ? "row" : "column", " of ",
                 ToString(matrix));
}

Result<Dims> MatMulShape(const Graph& graph, const Node& node, size_t left, size_t right) {
  Dims a = InShape(graph, node, left), b = InShape(graph, node, right);
  if (a.rank() == 0 || b.rank() == 0) return BadNode("an input is a scalar");
  const bool row = a.rank() == 1, column = b.rank() == 1;
  if (row) a.insert(0, 1);
  if (column) b.push_back(1);
  const auto batch =
      BroadcastShapes(Dims(a.span().first(a.rank() - 2)), Dims(b.span().first(b.rank() - 2)));
  if (!batch || a.back() != b[b.rank() - 2]) {
    return BadNode("shapes ", ToString(InShape(graph, node, left)), " and ",
                   ToString(InShape(graph, node, right)), " do not multiply");
  }
  Dims out = *batch;
  if (!row) out.push_back(a[a.rank() - 2]);
  if (!column) out.push_back(b.back());
  return out;
}

Status CheckNarrowInteger(const Graph& graph, const Node& node, size_t i) {
  const DType d = In(graph, node, i).dtype;
  if (IsInteger(d) && DTypeBytes(d) <= 2 && !IsStorageOnly(d)) return OkStatus();
  return BadNode("input ", i, " is ", DTypeName(d), ", expected an integer of 8 or 16 bits");
}

Status CheckSameAs(const Graph& graph, const Node& node, size_t zero, size_t data) {
  return HasInput(node, zero) ? CheckSameDType(graph, node, zero, data) : OkStatus();
}

// The bias, the scales and the zero points of QLinearConv.
Status CheckConvParameters(const Graph& graph, const Node& node, int64_t channels) {
  for (size_t i : {1, 2, 6, 7}) {
    if (!HasInput(node, i) || IsOne(InShape(graph, node, i))) continue;
    return BadNode("input ", i, " has shape ", ToString(InShape(graph, node, i)),
                   ", expected a scalar");
  }
  for (size_t i : {4, 5, 8}) {
    if (!HasInput(node, i)) continue;
    const Dims& shape = InShape(graph, node, i);
    if (shape == Dims{channels} || (i != 8 && IsOne(shape))) continue;
    return BadNode("input ", i, " has shape ", ToString(shape), ", expected ", channels);
  }
  if (HasInput(node, 8) && In(graph, node, 8).dtype != DType::kI32) {
    return BadNode("the bias is ", DTypeName(In(graph, node, 8).dtype), ", expected i32");
  }
  return OkStatus();
}

Status SetConvOutput(Graph& graph, const Node& node, int64_t channels, DType dtype,
                     const Dims& spatial) {
  Dims out{InShape(graph, node, 0)[0], channels};
  for (int64_t e : spatial) out.push_back(e);
  return SetOutput(graph, node, 0, dtype, out);
}

}  // namespace

Status InferMatMulInteger(Graph& graph, const Node& node) {
  for (size_t i : {0, 1}) AICF_RETURN_IF_ERROR(CheckNarrowInteger(graph, node, i));
  AICF_RETURN_IF_ERROR(CheckSameAs(graph, node, 2, 0));
  AICF_RETURN_IF_ERROR(CheckSameAs(graph, node, 3, 1));
  AICF_ASSIGN_OR_RETURN(const Dims out, MatMulShape(graph, node, 0, 1));
  AICF_RETURN_IF_ERROR(CheckMatrixParameter(graph, node, 2, InShape(graph, node, 0), true));
  AICF_RETURN_IF_ERROR(CheckMatrixParameter(graph, node, 3, InShape(graph, node, 1), false));
  return SetOutput(graph, node, 0, DType::kI32, out);
}

Status InferQLinearMatMul(Graph& graph, const Node& node) {
  for (size_t i : {0, 3, 7}) AICF_RETURN_IF_ERROR(CheckQuantized(graph, node, i, false));
  for (size_t i : {1, 4, 6}) AICF_RETURN_IF_ERROR(CheckDType(graph, node, i, kFloats));
  AICF_RETURN_IF_ERROR(CheckSameDType(graph, node, 2, 0));
  AICF_RETURN_IF_ERROR(CheckSameDType(graph, node, 5, 3));
  if (IsFloat(In(graph, node, 0).dtype) != IsFloat(In(graph, node, 3).dtype)) {
    return BadNode("multiplies integers with floats");
  }
  AICF_ASSIGN_OR_RETURN(const Dims out, MatMulShape(graph, node, 0, 3));
  for (size_t i : {1, 2}) {
    AICF_RETURN_IF_ERROR(CheckMatrixParameter(graph, node, i, InShape(graph, node, 0), true));
  }
  for (size_t i : {4, 5}) {
    AICF_RETURN_IF_ERROR(CheckMatrixParameter(graph, node, i, InShape(graph, node, 3), false));
  }
  for (size_t i : {6, 7}) {
    if (!IsOne(InShape(graph, node, i))) return BadNode("input ", i, " is not a scalar");
  }
  return SetOutput(graph, node, 0, In(graph, node, 7).dtype, out);
}

namespace {

// The two operands of a product of float8 codes.
Status CheckCodes(const Graph& graph, const Node& node) {
  const DType a = In(graph, node, 0).dtype, b = In(graph, node, 1).dtype;
  if (a == b && IsFloat(a) && DTypeBytes(a) == 1) return OkStatus();
  return BadNode("multiplies ", DTypeName(a), " with ", DTypeName(b), ", expected one float8 type");
}

// The scales of aicf.ScaledMatMul, of which it has two or none.
Status CheckBlockScales(const Graph& graph, const Node& node, const Dims& a, const Dims& b) {
  const int64_t terms = node.Int("scale_terms", 0), columns = node.Int("scale_columns", 1);
  const bool scales_a = HasInput(node, 2), scales_b = HasInput(node, 3);
  if (!scales_a && !scales_b && terms == 0) return OkStatus();
  if (!scales_a || !scales_b) return BadNode("has scales of one operand alone, or of none");
  if (terms < 1 || columns < 1) return BadNode("scales of ", terms, " x ", columns, " elements");
  Dims of_a = a;
  of_a[of_a.rank() - 1] = CeilDiv(a.back(), terms);
  const Dims of_b = {of_a.back(), CeilDiv(b[1], columns)};
  for (const auto& [input, want] : {std::pair(size_t{2}, of_a), std::pair(size_t{3}, of_b)}) {
    const Value& scale = In(graph, node, input);
    if (scale.dtype == DType::kF32 && scale.shape == want) continue;
    return BadNode("input ", input, " is ", DTypeName(scale.dtype), " ", ToString(scale.shape),
                   ", expected f32 ", ToString(want));
  }
  return OkStatus();
}

}  // namespace

Status InferScaledMatMul(Graph& graph, const Node& node) {
  AICF_RETURN_IF_ERROR(CheckCodes(graph, node));
  const Value &a = In(graph, node, 0), &b = In(graph, node, 1);
  if (a.shape.rank() < 2 || b.shape.rank() != 2 || a.shape.back() != b.shape[0]) {
    return BadNode("shapes ", ToString(a.shape), " and ", ToString(b.shape), " do not multiply");
  }
  AICF_RETURN_IF_ERROR(CheckBlockScales(graph, node, a.shape, b.shape));
  Dims out = a.shape;
  out[out.rank() - 1] = b.shape[1];
  return SetOutput(graph, node, 0, DType::kF32, out);
}

Status InferCodeConv(Graph& graph, const Node& node) {
  AICF_RETURN_IF_ERROR(CheckCodes(graph, node));
  AICF_ASSIGN_OR_RETURN(const Window w, ResolveWindow(graph, node));
  return SetConvOutput(graph, node, InShape(graph, node, 1)[0], DType::kF32, w.output);
}

Status InferConvInteger(Graph& graph, const Node& node) {
  for (size_t i : {0, 1}) AICF_RETURN_IF_ERROR(CheckNarrowInteger(graph, node, i));
  AICF_RETURN_IF_ERROR(CheckSameAs(graph, node, 2, 0));
  AICF_RETURN_IF_ERROR(CheckSameAs(graph, node, 3, 1));
  AICF_ASSIGN_OR_RETURN(const Window w, ResolveWindow(graph, node));
  const int64_t channels = InShape(graph, node, 1)[0];
  if (HasInput(node, 2) && !IsOne(InShape(graph, node, 2))) {
    return BadNode("the input's zero point is not a scalar");
  }
  if (HasInput(node, 3) && !IsOne(InShape(graph, node, 3)) &&
      InShape(graph, node, 3) != Dims{channels}) {
    return BadNode("the weights' zero point has shape ", ToString(InShape(graph, node, 3)),
                   ", expected ", channels);
  }
  return SetConvOutput(graph, node, channels, DType::kI32, w.output);
}

Status InferQLinearConv(Graph& graph, const Node& node) {
  for (size_t i : {0, 3, 7}) AICF_RETURN_IF_ERROR(CheckNarrowInteger(graph, node, i));
  for (size_t i : {1, 4, 6}) AICF_RETURN_IF_ERROR(CheckDType(graph, node, i, kFloats));
  AICF_RETURN_IF_ERROR(CheckSameDType(graph, node, 2, 0));
  AICF_RETURN_IF_ERROR(CheckSameDType(graph, node, 5, 3));
  AICF_ASSIGN_OR_RETURN(const Window w, ResolveWindow(graph, node));
  const int64_t channels = InShape(graph, node, 3)[0];
  AICF_RETURN_IF_ERROR(CheckConvParameters(graph, node, channels));
  return SetConvOutput(graph, node, channels, In(graph, node, 7).dtype, w.output);
}

}  // namespace aicf::ir
