#include "compiler/ir/attention_node.h"
#include "compiler/ir/views.h"
#include "compiler/passes/lower/lowerings.h"
#include "compiler/passes/lower/operand_expr.h"

namespace aicf {
namespace {

// The core operands of the step, in the order of the family: all inputs but those of the score
// expression.
std::vector<ValueView> CoreOperands(LowerContext& ctx, const ir::Node& node) {
  std::vector<ValueView> core;
  for (size_t i = 0; i < ir::kAttentionOperands; ++i) {
    if (node.input(i) != ir::kNoValue) core.push_back(ctx.Get(node.inputs[i]));
  }
  return core;
}

}  // namespace

Status LowerAttention(LowerContext& ctx, const ir::Node& node) {
  AICF_ASSIGN_OR_RETURN(ir::AttentionForm form, ir::ReadAttention(node));
  abi::Problem p;
  p.family = abi::Family::kAttention;
  p.attrs = form.attrs;
  p.score = std::move(form.score);
  std::vector<ir::BufferId> inputs;
  AppendOperands(CoreOperands(ctx, node), p, inputs);
  p.core_inputs = static_cast<int>(inputs.size());
  const Dims domain = ir::AttentionDomain(ctx.graph(), node);
  std::vector<ValueView> operands;
  for (size_t i = ir::kAttentionOperands; i < node.inputs.size(); ++i) {
    const ValueView operand = ctx.Get(node.inputs[i]);
    operands.push_back({operand.buffer, ir::BroadcastTo(operand.view, domain)});
  }
  AppendOperands(operands, p, inputs);
  const ValueView out = ctx.DefineDense(node.outputs[0]);
  p.outputs = {out.view};
  ctx.Emit(node, std::move(p), std::move(inputs), {out.buffer});
  return OkStatus();
}

}  // namespace aicf
