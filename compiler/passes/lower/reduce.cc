#include <algorithm>

#include "compiler/ir/infer/infer.h"
#include "compiler/ir/views.h"
#include "compiler/passes/lower/lowerings.h"
#include "compiler/passes/lower/operand_expr.h"

namespace aicf {
namespace {

using abi::ExprBuilder;
using abi::ExprOp;
using abi::ReduceKind;

enum class Before : uint8_t { kNothing, kAbs, kSquare };
enum class After : uint8_t { kNothing, kSqrt, kLog };

struct Reduction {
  std::string_view op;
  ReduceKind kind;
  Before before;
  After after;
};

constexpr Reduction kReductions[] = {
    {"ReduceL1", ReduceKind::kSum, Before::kAbs, After::kNothing},
    {"ReduceL2", ReduceKind::kSum, Before::kSquare, After::kSqrt},
    {"ReduceLogSum", ReduceKind::kSum, Before::kNothing, After::kLog},
    {"ReduceMax", ReduceKind::kMax, Before::kNothing, After::kNothing},
    {"ReduceMean", ReduceKind::kMean, Before::kNothing, After::kNothing},
    {"ReduceMin", ReduceKind::kMin, Before::kNothing, After::kNothing},
    {"ReduceProd", ReduceKind::kProd, Before::kNothing, After::kNothing},
    {"ReduceSum", ReduceKind::kSum, Before::kNothing, After::kNothing},
    {"ReduceSumSquare", ReduceKind::kSum, Before::kSquare, After::kNothing},
};

Dims Kept(Dims shape, const Dims& axes) {
  for (int64_t a : axes) shape[static_cast<int>(a)] = 1;
  return shape;
}

// The node's output as a reduction writes it: reduced axes have one element.
ValueView DefineKept(LowerContext& ctx, const ir::Node& node, const ValueView& x,
                     const Dims& axes) {
  const ir::ValueId id = node.outputs[0];
  const Dims kept = Kept(x.view.shape, axes);
  const ValueView out = ctx.value(id).shape == kept ? ctx.DefineLike(id, x) : ctx.DefineDense(id);
  return {out.buffer, *ir::Reshape(out.view, kept)};
}

abi::Problem ReduceProblem(const ValueView& x, ReduceKind kind, const Dims& axes) {
  abi::Problem p;
  p.family = abi::Family::kReduce;
  p.attrs = abi::ReduceAttrs{kind, axes, false};
  p.inputs = {x.view};
  return p;
}

abi::Expr Prologue(Before before, DType dtype) {
  if (before == Before::kNothing) return {};
  ExprBuilder b;
  const uint16_t x = b.Input(0, abi::ComputeDType(dtype));
  return b.Finish(
      {before == Before::kAbs ? b.Unary(ExprOp::kAbs, x) : b.Binary(ExprOp::kMul, x, x)});
}

// Roots and logarithms of integers are taken in f64 and truncated back.
uint16_t ApplyAfter(ExprBuilder& b, After after, uint16_t acc) {
  if (after == After::kNothing) return acc;
  const DType dtype = b.dtype(acc);
  const uint16_t x = IsFloat(dtype) ? acc : b.Cast(acc, DType::kF64);
  return b.Cast(b.Unary(after == After::kSqrt ? ExprOp::kSqrt : ExprOp::kLog, x), dtype);
}

}  // namespace

Status LowerReduce(LowerContext& ctx, const ir::Node& node) {
  const auto* row = std::find_if(std::begin(kReductions), std::end(kReductions),
                                 [&](const Reduction& r) { return r.op == node.op; });
  if (row == std::end(kReductions))
    return Error(Code::kInternal, "no reduction is called ", node.op);
  const ValueView x = ctx.Get(node.inputs[0]);
  AICF_ASSIGN_OR_RETURN(const Dims axes, ir::ResolveAxes(ctx.graph(), node));
  abi::Problem p = ReduceProblem(x, row->kind, axes);
  p.prologue = Prologue(row->before, x.view.dtype);
  OperandExpr expr(1);
  const uint16_t value = ApplyAfter(expr.builder(), row->after, expr.Raw(x.view.dtype));
  EmitWithEpilogue(ctx, node, std::move(p), {x.buffer}, expr, value,
                   DefineKept(ctx, node, x, axes));
  return OkStatus();
}

// log(sum(exp(x - m))) + m with m the maximum, or 0 where that is infinite: inf - inf is no number.
Status LowerReduceLogSumExp(LowerContext& ctx, const ir::Node& node) {
  const ValueView x = ctx.Get(node.inputs[0]);
  if (!IsFloat(x.view.dtype)) return Error(Code::kUnsupported, "ReduceLogSumExp of integers");
  AICF_ASSIGN_OR_RETURN(const Dims axes, ir::ResolveAxes(ctx.graph(), node));
  const DType dtype = abi::ComputeDType(x.view.dtype);
  const ValueView max =
      ctx.Temp(StrCat(ctx.value(node.outputs[0]).name, " max"), dtype, Kept(x.view.shape, axes));
  OperandExpr finite(1);
  ExprBuilder& f = finite.builder();
  const uint16_t m = finite.Raw(dtype);
  const uint16_t infinite = f.Unary(ExprOp::kIsInf, m);
  const uint16_t safe = f.Select(infinite, f.Const(0, dtype), m);
  EmitWithEpilogue(ctx, node, ReduceProblem(x, ReduceKind::kMax, axes), {x.buffer}, finite, safe,
                   max);

  abi::Problem p = ReduceProblem(x, ReduceKind::kSum, axes);
  p.inputs.push_back(ir::BroadcastTo(max.view, x.view.shape));
  ExprBuilder b;
  const uint16_t element = b.Input(0, dtype);
  const uint16_t shifted = b.Binary(ExprOp::kSub, element, b.Input(1, dtype));
  p.prologue = b.Finish({b.Unary(ExprOp::kExp, shifted)});
  OperandExpr expr(1);
  const uint16_t log = expr.builder().Unary(ExprOp::kLog, expr.Raw(dtype));
  const uint16_t value = expr.builder().Binary(ExprOp::kAdd, log, expr.Load(max));
  EmitWithEpilogue(ctx, node, std::move(p), {x.buffer, max.buffer}, expr, value,
                   DefineKept(ctx, node, x, axes));
  return OkStatus();
}

Status LowerArg(LowerContext& ctx, const ir::Node& node) {
  const ValueView x = ctx.Get(node.inputs[0]);
  AICF_ASSIGN_OR_RETURN(const int axis,
                        ir::NormalizeAxis(node.Int("axis", 0), x.view.shape.rank()));
  const Dims axes{axis};
  abi::Problem p =
      ReduceProblem(x, node.op == "ArgMax" ? ReduceKind::kArgMax : ReduceKind::kArgMin, axes);
  std::get<abi::ReduceAttrs>(p.attrs).last_index = node.Int("select_last_index", 0) != 0;
  EmitPlain(ctx, node, std::move(p), {x.buffer}, DefineKept(ctx, node, x, axes));
  return OkStatus();
}

}  // namespace aicf
