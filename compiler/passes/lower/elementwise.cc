#include <algorithm>

#include "compiler/ir/views.h"
#include "compiler/passes/lower/elementwise_table.h"
#include "compiler/passes/lower/lowerings.h"
#include "compiler/passes/lower/operand_expr.h"

namespace aicf {
namespace {

// The operand whose axis order the result takes: one of the shape of the result that is not
// constant, preferably one stored channels-last. nullopt when there is none.
std::optional<ValueView> LeaderOf(LowerContext& ctx, const ir::Node& node, const Dims& shape) {
  std::optional<ValueView> leader;
  for (ir::ValueId id : node.inputs) {
    if (id == ir::kNoValue || ctx.value(id).is_constant() || ctx.value(id).shape != shape) continue;
    const ValueView candidate = ctx.Get(id);
    const Dims order = ir::AxisOrder(candidate.view);
    const bool preferred = shape.rank() >= 3 && order == ir::ChannelsLastOrder(shape.rank());
    if (!leader || preferred) leader = candidate;
    if (preferred) break;
  }
  return leader;
}

ValueView DefineResult(LowerContext& ctx, const ir::Node& node) {
  const ir::ValueId out = node.outputs[0];
  const std::optional<ValueView> leader = LeaderOf(ctx, node, ctx.value(out).shape);
  return leader ? ctx.DefineLike(out, *leader) : ctx.Define(out);
}

uint16_t LoadOrAbsent(LowerContext& ctx, OperandExpr& expr, ir::ValueId id, const Dims& domain) {
  return id == ir::kNoValue ? ElementwiseArgs::kAbsent : LoadValue(ctx, expr, id, domain);
}

// x^1, x^2 and x^-1 without Pow: the operand, a product or a reciprocal take fewer roundings.
std::optional<uint16_t> PowBySmallConstant(LowerContext& ctx, const ir::Node& node,
                                           abi::ExprBuilder& b, uint16_t x) {
  if (node.op != "Pow") return std::nullopt;
  const ir::Value& exponent = ctx.value(node.inputs[1]);
  if (!exponent.is_constant() || exponent.constant.count() != 1) return std::nullopt;
  const double value = IsFloat(exponent.dtype) ? exponent.constant.FloatAt(0)
                                               : static_cast<double>(exponent.constant.IntAt(0));
  if (value == 1) return x;
  if (value == 2) return b.Binary(abi::ExprOp::kMul, x, x);
  if (value == -1 && IsFloat(b.dtype(x))) return b.Unary(abi::ExprOp::kRecip, x);
  return std::nullopt;
}

// A sum, maximum, minimum or mean of more operands than one expression reads: partial results are
// kept in the compute dtype, so that no step rounds more than the whole would.
Status LowerManyOperands(LowerContext& ctx, const ir::Node& node, BuildElementwise build) {
  const ir::Value& out = ctx.value(node.outputs[0]);
  const bool mean = node.op == "Mean";
  if (mean) build = FindElementwise("Sum");
  const DType compute = abi::ComputeDType(out.dtype);
  std::optional<ValueView> partial;
  size_t at = 0;
  while (at < node.inputs.size()) {
    OperandExpr expr(0);
    std::vector<uint16_t> in;
    if (partial) in.push_back(expr.Load(*partial));
    // The limit is on operands, not on inputs of the expression: an operand that comes a thousand
    // times is one input, and would never reach a limit.
    while (at < node.inputs.size() && in.size() < abi::kMaxExprInputs) {
      in.push_back(LoadValue(ctx, expr, node.inputs[at++], out.shape));
    }
    uint16_t value = build({node, expr.builder(), in, compute});
    const bool last = at == node.inputs.size();
    if (last && mean) {
      const double count = static_cast<double>(node.inputs.size());
      value = expr.builder().Binary(abi::ExprOp::kDiv, value, expr.builder().Const(count, compute));
    }
    const ValueView to =
        last ? DefineResult(ctx, node) : ctx.Temp(StrCat(out.name, " part"), compute, out.shape);
    EmitElementwise(ctx, node, expr, value, to);
    partial = to;
  }
  return OkStatus();
}

}  // namespace

Status LowerElementwise(LowerContext& ctx, const ir::Node& node) {
  const BuildElementwise build = FindElementwise(node.op);
  if (build == nullptr) return Error(Code::kInternal, "op ", node.op, " has no expression");
  if (node.inputs.size() > abi::kMaxExprInputs) return LowerManyOperands(ctx, node, build);
  const ir::Value& out = ctx.value(node.outputs[0]);
  if (node.op == "Cast" && ctx.value(node.inputs[0]).dtype == out.dtype) {
    ctx.Alias(node.outputs[0], ctx.Get(node.inputs[0]));
    return OkStatus();
  }
  OperandExpr expr(0);
  std::vector<uint16_t> in;
  for (ir::ValueId id : node.inputs) in.push_back(LoadOrAbsent(ctx, expr, id, out.shape));
  std::optional<uint16_t> value = PowBySmallConstant(ctx, node, expr.builder(), in[0]);
  if (!value) value = build({node, expr.builder(), in, out.dtype});
  EmitElementwise(ctx, node, expr, *value, DefineResult(ctx, node));
  return OkStatus();
}

}  // namespace aicf
