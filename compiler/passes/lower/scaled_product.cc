// aicf.ScaledMatMul: one gemm step, whose operands may have scales of blocks.
#include "compiler/ir/scaled_node.h"
#include "compiler/ir/views.h"
#include "compiler/passes/lower/lowerings.h"
#include "compiler/passes/lower/operand_expr.h"

namespace aicf {
namespace {

// Makes the leading axes one; nullopt where strides do not allow it.
std::optional<abi::View> WithRows(const abi::View& v) {
  int64_t rows = 1;
  for (int axis = 0; axis + 1 < v.shape.rank(); ++axis) rows *= v.shape[axis];
  return ir::Reshape(v, {rows, v.shape.back()});
}

// The matrix, repeated along the batch axes of `batched`.
abi::View ForBatch(const abi::View& matrix, const Dims& batched) {
  Dims shape = batched;
  for (int axis : {0, 1}) shape[batched.rank() - 2 + axis] = matrix.shape[axis];
  return ir::BroadcastTo(matrix, shape);
}

}  // namespace

Status LowerScaledMatMul(LowerContext& ctx, const ir::Node& node) {
  ValueView out = ctx.Define(node.outputs[0]);
  const abi::View result = out.view;
  std::vector<abi::View> views, of_rows;
  std::vector<ir::BufferId> buffers;
  bool rows = WithRows(result).has_value();
  for (size_t i = 0; i < node.inputs.size() && node.inputs[i] != ir::kNoValue; ++i) {
    const ValueView operand = ctx.Get(node.inputs[i]);
    const bool left = i % 2 == 0;
    const auto joined = left ? WithRows(operand.view) : operand.view;
    rows = rows && joined;
    if (joined) of_rows.push_back(*joined);
    views.push_back(left ? operand.view : ForBatch(operand.view, views.back().shape));
    buffers.push_back(operand.buffer);
  }
  if (rows) out.view = *WithRows(result);
  abi::GemmAttrs attrs;
  attrs.scale_terms = node.Int("scale_terms", 0);
  attrs.scale_columns = node.Int("scale_columns", 1);
  abi::Problem p;
  p.family = abi::Family::kGemm;
  p.attrs = attrs;
  p.inputs = rows ? std::move(of_rows) : std::move(views);
  EmitPlain(ctx, node, std::move(p), std::move(buffers), out);
  return OkStatus();
}

}  // namespace aicf
