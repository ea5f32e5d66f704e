// aicf.ScaledMatMul: one gemm step whose operands have scales of blocks.
#include "compiler/ir/scaled_node.h"
#include "compiler/ir/views.h"
#include "compiler/passes/lower/lowerings.h"

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
  const ValueView a = ctx.Get(node.inputs[0]), b = ctx.Get(node.inputs[1]);
  const ValueView of_a = ctx.Get(node.inputs[2]), of_b = ctx.Get(node.inputs[3]);
  ValueView out = ctx.Define(node.outputs[0]);
  abi::GemmAttrs attrs;
  attrs.scale_terms = node.Int("scale_terms", 0);
  attrs.scale_columns = node.Int("scale_columns", 1);
  abi::Problem p;
  p.family = abi::Family::kGemm;
  p.attrs = attrs;
  const auto rows = WithRows(a.view), scales = WithRows(of_a.view), results = WithRows(out.view);
  if (rows && scales && results) {
    out.view = *results;
    p.inputs = {*rows, b.view, *scales, of_b.view};
  } else {
    p.inputs = {a.view, ForBatch(b.view, a.view.shape), of_a.view,
                ForBatch(of_b.view, of_a.view.shape)};
  }
  EmitPlain(ctx, node, std::move(p), {a.buffer, b.buffer, of_a.buffer, of_b.buffer}, out);
  return OkStatus();
}

}  // namespace aicf
