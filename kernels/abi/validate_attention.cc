// Rules of the attention family.
#include "base/checked.h"
#include "kernels/abi/attention.h"
#include "kernels/abi/validate_rules.h"

namespace aicf::abi {
namespace {

constexpr int64_t kMaxAttentionExtent = (int64_t{1} << 31) - 1;
constexpr int kAppendOperands = 5;

Status CheckAttributes(const Problem& p, const AttentionAttrs& a) {
  if (a.rows >= RowOrigin::kCount) return Bad(p, "unknown row origin");
  AICF_RETURN_IF_ERROR(CheckReal(p, "scale", a.scale, kFiniteReal));
  if (a.offset < -kMaxPosition || a.offset > kMaxPosition) return Bad(p, "offset ", a.offset);
  for (int64_t window : {a.window_left, a.window_right}) {
    if (window < -1 || window > kMaxPosition) return Bad(p, "window ", window);
  }
  return OkStatus();
}

/// How many core operands the attributes name.
int CoreCount(const AttentionAttrs& a) {
  return 3 + (a.lengths ? 1 : 0) + (a.pages ? 1 : 0) + (a.rows == RowOrigin::kOperand ? 1 : 0) +
         (a.append_pairs != 0 ? kAppendOperands : 0);
}

Status CheckCounts(const Problem& p, const AttentionAttrs& a) {
  if (p.core_inputs != CoreCount(a)) {
    return Bad(p, p.core_inputs, " core operands, expected ", CoreCount(a));
  }
  if (a.append_pairs != 0 && p.outputs.size() != 3) {
    return Bad(p, p.outputs.size(), " outputs of a step that appends, expected 3");
  }
  if (a.append_pairs == 0 && p.outputs.size() > 2) {
    return Bad(p, p.outputs.size(), " outputs, expected 1 or 2");
  }
  for (int i = 0; i < 3; ++i) {
    const View& v = p.inputs[static_cast<size_t>(i)];
    if (v.shape.rank() != 4) return Bad(p, "q, k and v have rank 4");
    for (int64_t extent : v.shape) {
      if (extent > kMaxAttentionExtent)
        return Bad(p, "extent ", extent, " above ", kMaxAttentionExtent);
    }
  }
  if (a.pages) {
    const View& table = p.inputs[a.lengths ? 4 : 3];
    if (table.dtype != DType::kI32) return Bad(p, "the page table is not i32");
    if (table.shape.rank() != 2) return Bad(p, "the page table has rank 2");
    int64_t keys = 0;
    if (!CheckedMul(table.shape[1], p.inputs[1].shape[2], &keys) || keys > kMaxAttentionExtent) {
      return Bad(p, "the pages hold too many keys");
    }
    if (p.inputs[1].shape[2] < 1) return Bad(p, "a page holds no key");
  }
  return OkStatus();
}

Status CheckDTypes(const Problem& p) {
  const DType data = p.inputs[0].dtype;
  if (data != DType::kF32 && data != DType::kF16 && data != DType::kBF16 && data != DType::kF64) {
    return Bad(p, "q is ", DTypeName(data), ", expected f32, f16, bf16 or f64");
  }
  if (p.inputs[1].dtype != data || p.inputs[2].dtype != data) {
    return Bad(p, "q, k and v differ in dtype");
  }
  const DType out = p.outputs[0].dtype;
  const bool stored = out == DType::kF32 || out == DType::kF16 || out == DType::kBF16 ||
                      out == DType::kF64 || out == DType::kF8E4M3FN;
  if (!stored || ComputeDType(out) != ComputeDType(data)) {
    return Bad(p, "the output is ", DTypeName(out), " for data ", DTypeName(data));
  }
  if (p.outputs.size() == 2 && p.outputs[1].dtype != ComputeDType(data)) {
    return Bad(p, "the log-sum-exp is ", DTypeName(p.outputs[1].dtype), ", expected ",
               DTypeName(ComputeDType(data)));
  }
  return OkStatus();
}

Status CheckShapes(const Problem& p, const AttentionShape& s) {
  if (s.key_heads < 1 || s.query_heads % s.key_heads != 0) {
    return Bad(p, s.query_heads, " query heads are no multiple of ", s.key_heads, " key heads");
  }
  const bool pages = s.table >= 0;
  const int64_t first = pages ? s.pool : s.batch, third = pages ? s.page : s.keys;
  AICF_RETURN_IF_ERROR(CheckSameShape(p, p.inputs[1], {first, s.key_heads, third, s.head}, "k"));
  AICF_RETURN_IF_ERROR(
      CheckSameShape(p, p.inputs[2], {first, s.key_heads, third, s.value_head}, "v"));
  if (pages && p.inputs[static_cast<size_t>(s.table)].shape[0] != s.batch) {
    return Bad(p, "the page table has ", p.inputs[static_cast<size_t>(s.table)].shape[0],
               " requests, q ", s.batch);
  }
  for (int operand : {s.lengths, s.origins}) {
    if (operand < 0) continue;
    const View& v = p.inputs[static_cast<size_t>(operand)];
    const std::string_view name = operand == s.lengths ? "lengths" : "origins";
    if (v.dtype != DType::kI32 && v.dtype != DType::kI64)
      return Bad(p, name, " are not i32 or i64");
    AICF_RETURN_IF_ERROR(CheckSameShape(p, v, {s.batch}, name));
  }
  const Dims rows = {s.batch, s.query_heads, s.rows};
  const Dims out = {s.batch, s.query_heads, s.rows, s.value_head};
  AICF_RETURN_IF_ERROR(CheckSameShape(p, p.outputs[0], out, "the output"));
  if (p.outputs.size() == 2) {
    AICF_RETURN_IF_ERROR(CheckSameShape(p, p.outputs[1], rows, "the log-sum-exp"));
  }
  return OkStatus();
}

// The rules of a step that appends, beside those of every attention.
Status CheckAppended(const Problem& p, const AttentionShape& s) {
  const auto& a = p.as<AttentionAttrs>();
  if (!AppendsRows(p)) return OkStatus();
  const auto input = [&](int operand) -> const View& {
    return p.inputs[static_cast<size_t>(operand)];
  };
  if (!a.pages || s.rows != 1) return Bad(p, "appends without pages, or to more than one row");
  if (s.value_head != s.head) return Bad(p, "appends keys and values of different heads");
  const int64_t pairs = a.append_pairs;
  if (pairs < 1 || pairs > s.head / 2) {
    return Bad(p, pairs, " pairs in heads of ", s.head, " elements");
  }
  const DType data = p.inputs[0].dtype;
  if (!IsData(data)) return Bad(p, "appends ", DTypeName(data), " rows");
  const Dims row = {s.batch, 1, s.key_heads, s.head}, table = {s.batch, 1, a.append_pairs};
  for (int operand : {s.new_keys, s.new_values}) {
    if (input(operand).dtype != data) return Bad(p, "new rows are not of q's dtype");
    AICF_RETURN_IF_ERROR(CheckSameShape(p, input(operand), row, "new rows"));
  }
  if (input(s.places).dtype != DType::kI32) return Bad(p, "places are not i32");
  AICF_RETURN_IF_ERROR(CheckSameShape(p, input(s.places), {s.batch, 1, 2}, "places"));
  for (int operand : {s.cosine, s.sine}) {
    if (!IsData(input(operand).dtype)) return Bad(p, "cosines or sines are not f32, f16 or bf16");
    AICF_RETURN_IF_ERROR(CheckSameShape(p, input(operand), table, "cosines or sines"));
  }
  AICF_RETURN_IF_ERROR(CheckNext(p, kAttentionNextKeys, 1, "keys"));
  return CheckNext(p, kAttentionNextValues, 2, "values");
}

Status CheckScore(const Problem& p, const AttentionShape& s) {
  const DType raw = ComputeDType(p.inputs[0].dtype);
  std::vector<DType> inputs = {raw};
  for (size_t i = static_cast<size_t>(p.core_inputs); i < p.inputs.size(); ++i) {
    const Dims domain = {s.batch, s.query_heads, s.rows, s.keys};
    AICF_RETURN_IF_ERROR(CheckSameShape(p, p.inputs[i], domain, "a score operand"));
    inputs.push_back(p.inputs[i].dtype);
  }
  if (p.score.empty() && p.extra_inputs() > 0)
    return Bad(p, "score operands without an expression");
  AICF_RETURN_IF_ERROR(ValidateExpr(p.score, inputs, 4));
  if (p.score.empty()) return OkStatus();
  if (p.score.results.size() != 1) return Bad(p, "a score expression has one result");
  const DType result = p.score.nodes[p.score.results[0]].dtype;
  if (result == raw) return OkStatus();
  return Bad(p, "the score is ", DTypeName(result), ", expected ", DTypeName(raw));
}

}  // namespace

template <>
Status CheckRules<Family::kAttention>(const Problem& p) {
  const auto& a = p.as<AttentionAttrs>();
  AICF_RETURN_IF_ERROR(CheckAttributes(p, a));
  AICF_RETURN_IF_ERROR(CheckCounts(p, a));
  AICF_RETURN_IF_ERROR(CheckDTypes(p));
  const AttentionShape s = AttentionShapeOf(p);
  AICF_RETURN_IF_ERROR(CheckShapes(p, s));
  AICF_RETURN_IF_ERROR(CheckAppended(p, s));
  return CheckScore(p, s);
}

}  // namespace aicf::abi
