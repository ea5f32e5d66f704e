// Rules of the excite family.
#include "kernels/abi/excite.h"
#include "kernels/abi/validate_rules.h"

namespace aicf::abi {
namespace {

Status CheckExciteCounts(const Problem& p) {
  const int64_t hidden = p.as<ExciteAttrs>().hidden_operands;
  if (p.core_inputs < 2) return Bad(p, p.core_inputs, " core operands, expected at least 2");
  if (hidden < 0 || hidden > p.core_inputs - 2) {
    return Bad(p, hidden, " operands of hidden units among ", p.core_inputs, " core operands");
  }
  if (p.extra_inputs() < 1) return Bad(p, "x is missing");
  if (p.outputs[0].shape.rank() < 2) return Bad(p, "the output has no channels");
  return OkStatus();
}

Status CheckExciteDTypes(const Problem& p, const ExciteShape& s) {
  for (int operand : {0, 1, s.x}) {
    const DType dtype = p.inputs[static_cast<size_t>(operand)].dtype;
    if (!IsData(dtype)) {
      return Bad(p, "operand ", operand, " is ", DTypeName(dtype), ", expected f32, f16 or bf16");
    }
  }
  return OkStatus();
}

// What an expression between input and output computes, and what its operands are called.
struct Middle {
  std::string_view name, operand;
};
constexpr Middle kHiddenUnit{"hidden unit", "an operand of the hidden unit"};
constexpr Middle kGate{"gate", "an operand of the gate"};

// Checks one of the two expressions between input and output: the prologue of the hidden units, or
// the score of the gates. It reads a product and the operands [first, end), all of shape `domain`.
Status CheckMiddle(const Problem& p, const Expr& expr, int first, int end, const Dims& domain,
                   const Middle& middle) {
  const std::string_view name = middle.name;
  InputDTypes inputs;
  inputs.Add(DType::kF32);
  for (int k = first; k < end; ++k) {
    const View& v = p.inputs[static_cast<size_t>(k)];
    AICF_RETURN_IF_ERROR(CheckSameShape(p, v, domain, middle.operand));
    inputs.Add(v.dtype);
  }
  if (expr.empty() && end > first) return Bad(p, "operands of a ", name, " without an expression");
  AICF_RETURN_IF_ERROR(ValidateExpr(expr, inputs.all(), 2));
  if (expr.empty()) return OkStatus();
  if (expr.results.size() != 1) return Bad(p, "a ", name, " has one result");
  const DType result = expr.nodes[expr.results[0]].dtype;
  if (result == DType::kF32) return OkStatus();
  return Bad(p, "the ", name, " is ", DTypeName(result), ", expected f32");
}

}  // namespace

template <>
Status CheckRules<Family::kExcite>(const Problem& p) {
  AICF_RETURN_IF_ERROR(CheckExciteCounts(p));
  const Dims &w1 = p.inputs[0].shape, &out = p.outputs[0].shape;
  if (w1.rank() != 2) return Bad(p, "w1 has rank ", w1.rank(), ", expected 2");
  const ExciteShape s = ExciteShapeOf(p);
  AICF_RETURN_IF_ERROR(CheckExciteDTypes(p, s));
  AICF_RETURN_IF_ERROR(CheckSameShape(p, p.inputs[0], {s.hidden, out[1]}, "w1"));
  AICF_RETURN_IF_ERROR(CheckSameShape(p, p.inputs[1], {out[1], s.hidden}, "w2"));
  AICF_RETURN_IF_ERROR(
      CheckMiddle(p, p.prologue, s.hidden_first, s.gate_first, {s.images, s.hidden}, kHiddenUnit));
  return CheckMiddle(p, p.score, s.gate_first, s.gate_end, {s.images, s.channels}, kGate);
}

}  // namespace aicf::abi
