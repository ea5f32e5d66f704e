// The two ends of a loop (compiler/ir/loop_nodes.h). A loop's state lives in carried buffers, which
// copies fill before the loop and at the end of every trip.
#include "compiler/passes/lower/lowerings.h"
#include "compiler/passes/lower/operand_expr.h"

namespace aicf {
namespace {

bool SameView(const ValueView& a, const ValueView& b) {
  return a.buffer == b.buffer && a.view == b.view;
}

}  // namespace

Status LowerLoopBegin(LowerContext& ctx, const ir::Node& node) {
  ir::BufferId condition = 0;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueView from = Repeated(ctx, node.inputs[i]);
    const ValueView state = ctx.DefineCarried(node.outputs[i]);
    if (i == 0) condition = state.buffer;
    ctx.EmitCopy(node, from, state, "a loop's state changes, so it has bytes of its own");
  }
  ctx.OpenLoop(condition);
  return OkStatus();
}

// All states change at once. Where the next value of a state is the present value of another state,
// it is saved before any state changes.
Status LowerLoopEnd(LowerContext& ctx, const ir::Node& node) {
  const size_t count = node.outputs.size();
  std::vector<ValueView> next;
  for (size_t i = 0; i < count; ++i) {
    ValueView from = ctx.Get(node.inputs[count + i]);
    if (ctx.IsCarried(from) && !SameView(from, ctx.Get(node.inputs[i]))) {
      const ir::Value& v = ctx.value(node.inputs[i]);
      const ValueView saved = ctx.Temp(StrCat(v.name, ".next"), v.dtype, v.shape);
      ctx.EmitCopy(node, from, saved, "the state it is taken from changes as well");
      from = saved;
    }
    next.push_back(from);
  }
  for (size_t i = 0; i < count; ++i) {
    const ValueView state = ctx.Get(node.inputs[i]);
    if (SameView(next[i], state)) continue;  // no trip changes it
    ctx.EmitCopy(node, next[i], state, "the next trip reads the loop's state");
  }
  ctx.CloseLoop();
  for (size_t i = 0; i < count; ++i) ctx.Alias(node.outputs[i], ctx.Get(node.inputs[i]));
  return OkStatus();
}

}  // namespace aicf
