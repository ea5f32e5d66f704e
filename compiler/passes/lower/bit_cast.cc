#include "compiler/passes/lower/lower.h"
#include "compiler/passes/lower/lowerings.h"

namespace aicf {

// A buffer has one dtype, so the bits are copied into a buffer of the other dtype.
Status LowerBitCast(LowerContext& ctx, const ir::Node& node) {
  ValueView x = ctx.Get(node.inputs[0]);
  const DType to = ctx.value(node.outputs[0]).dtype;
  if (x.view.dtype == to) {
    ctx.Alias(node.outputs[0], x);
    return OkStatus();
  }
  x.view.dtype = to;
  ctx.EmitCopy(node, x, ctx.DefineLike(node.outputs[0], x),
               "the bits of one dtype become those of another");
  return OkStatus();
}

}  // namespace aicf
