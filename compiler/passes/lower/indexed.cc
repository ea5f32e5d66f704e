// GatherElements, GatherND, ScatterElements, ScatterND, CumSum and CumProd: one step each.
#include "compiler/ir/infer/infer.h"
#include "compiler/ir/views.h"
#include "compiler/passes/lower/lowerings.h"
#include "compiler/passes/lower/operand_expr.h"

namespace aicf {
namespace {

abi::ScatterReduction ReductionOf(const ir::Node& node) {
  const std::string name = node.Str("reduction", "none");
  if (name == "add") return abi::ScatterReduction::kAdd;
  if (name == "mul") return abi::ScatterReduction::kMul;
  if (name == "min") return abi::ScatterReduction::kMin;
  if (name == "max") return abi::ScatterReduction::kMax;
  return abi::ScatterReduction::kNone;
}

// Stores the result of a scatter in the axis order of its data, so that a cache that is seen
// through a transposition can take new rows where it lies. Constant data, which may be one element
// that repeats, have no order to follow.
ValueView DefineScattered(LowerContext& ctx, const ir::Node& node) {
  const bool constant = ctx.value(node.inputs[0]).is_constant();
  return constant ? ctx.Define(node.outputs[0])
                  : ctx.DefineLike(node.outputs[0], ctx.Get(node.inputs[0]));
}

// Emits a step whose core operands are the first `operands` inputs of the node. Only scatters
// choose the axis order of their result.
Status EmitStep(LowerContext& ctx, const ir::Node& node, abi::Family family, abi::Attrs attrs,
                size_t operands) {
  abi::Problem p;
  p.family = family;
  p.attrs = std::move(attrs);
  std::vector<ir::BufferId> buffers;
  for (size_t i = 0; i < operands; ++i) {
    const bool data = i == 0 && family == abi::Family::kScatter;
    const ValueView v = data ? Repeated(ctx, node.inputs[i]) : ctx.Get(node.inputs[i]);
    p.inputs.push_back(v.view);
    buffers.push_back(v.buffer);
  }
  const bool scatter = family == abi::Family::kScatter;
  const ValueView out = scatter ? DefineScattered(ctx, node) : ctx.Define(node.outputs[0]);
  EmitPlain(ctx, node, std::move(p), std::move(buffers), out);
  return OkStatus();
}

Result<int> AxisOf(LowerContext& ctx, const ir::Node& node) {
  return ir::NormalizeAxis(node.Int("axis", 0), ctx.value(node.inputs[0]).shape.rank());
}

}  // namespace

Status LowerGatherElements(LowerContext& ctx, const ir::Node& node) {
  AICF_ASSIGN_OR_RETURN(const int axis, AxisOf(ctx, node));
  return EmitStep(ctx, node, abi::Family::kGather,
                  abi::GatherAttrs{axis, abi::GatherKind::kElements, 0}, 2);
}

Status LowerGatherND(LowerContext& ctx, const ir::Node& node) {
  return EmitStep(ctx, node, abi::Family::kGather,
                  abi::GatherAttrs{0, abi::GatherKind::kPoints, node.Int("batch_dims", 0)}, 2);
}

Status LowerScatterElements(LowerContext& ctx, const ir::Node& node) {
  AICF_ASSIGN_OR_RETURN(const int axis, AxisOf(ctx, node));
  return EmitStep(ctx, node, abi::Family::kScatter,
                  abi::ScatterAttrs{abi::ScatterKind::kElements, ReductionOf(node), axis}, 3);
}

Status LowerScatterND(LowerContext& ctx, const ir::Node& node) {
  return EmitStep(ctx, node, abi::Family::kScatter,
                  abi::ScatterAttrs{abi::ScatterKind::kPoints, ReductionOf(node), 0}, 3);
}

Status LowerCumulative(LowerContext& ctx, const ir::Node& node) {
  abi::ScanAttrs attrs;
  attrs.kind = node.op == "CumProd" ? abi::ScanKind::kProd : abi::ScanKind::kSum;
  AICF_ASSIGN_OR_RETURN(attrs.axis, ir::ResolveScanAxis(ctx.graph(), node));
  attrs.exclusive = node.Int("exclusive", 0) != 0;
  attrs.reverse = node.Int("reverse", 0) != 0;
  return EmitStep(ctx, node, abi::Family::kScan, attrs, 1);
}

}  // namespace aicf
