#include "compiler/passes/lower/copy_step.h"

namespace aicf {

void EmitPieces(LowerContext& ctx, const ir::Node& node, const std::vector<Piece>& pieces,
                const ValueView& to, std::optional<double> fill) {
  abi::Problem p;
  p.family = abi::Family::kCopy;
  abi::CopyAttrs attrs;
  attrs.has_fill = fill.has_value();
  attrs.fill = fill.value_or(0);
  std::vector<ir::BufferId> inputs;
  for (const Piece& piece : pieces) {
    attrs.starts.push_back(piece.start);
    p.inputs.push_back(piece.from.view);
    inputs.push_back(piece.from.buffer);
  }
  p.attrs = std::move(attrs);
  p.outputs = {to.view};
  p.core_inputs = static_cast<int>(p.inputs.size());
  ctx.Emit(node, std::move(p), std::move(inputs), {to.buffer});
}

void RecordCopy(LowerContext& ctx, const ir::Node& node, std::string rule) {
  ctx.RecordCopy(node, ctx.value(node.outputs[0]).name, std::move(rule));
}

}  // namespace aicf
