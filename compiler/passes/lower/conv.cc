#include "compiler/ir/infer/infer.h"
#include "compiler/ir/views.h"
#include "compiler/passes/lower/lowerings.h"
#include "compiler/passes/lower/math.h"
#include "compiler/passes/lower/operand_expr.h"

namespace aicf {
namespace {

// The bytes of a dense tensor in another order of its axes.
ir::Tensor Permuted(const ir::Tensor& t, const Dims& order) {
  Dims shape;
  for (int64_t axis : order) shape.push_back(t.shape()[static_cast<int>(axis)]);
  const abi::View source = ir::Permute(abi::DenseView(t.dtype(), t.shape()), order);
  const size_t item = static_cast<size_t>(DTypeBytes(t.dtype()));
  std::vector<std::byte> bytes(t.bytes().size());
  Dims at = Dims::Filled(shape.rank(), 0);
  for (size_t done = 0; done < bytes.size(); done += item) {
    int64_t from = 0;
    for (int i = 0; i < shape.rank(); ++i) from += at[i] * source.strides[i];
    std::copy_n(t.bytes().data() + from * static_cast<int64_t>(item), item, bytes.data() + done);
    for (int i = shape.rank() - 1; i >= 0 && ++at[i] == shape[i]; --i) at[i] = 0;
  }
  return ir::Tensor::Own(t.dtype(), shape, std::move(bytes));
}

}  // namespace

// CUDA kernels read neighbouring output channels together: constant weights are stored with the
// output channels innermost and viewed in the model's order. CPU kernels pack weights themselves.
ValueView StoredWeights(LowerContext& ctx, const ir::Node& node, std::string_view name,
                        const ir::Tensor& weights, bool transposed) {
  if (ctx.pass().device.backend != abi::Backend::kCuda) return ctx.Constant(name, weights);
  Dims order;
  for (int i = 2; i < weights.shape().rank(); ++i) order.push_back(i);
  order.push_back(transposed ? 0 : 1);
  order.push_back(transposed ? 1 : 0);
  const ValueView stored = ctx.Constant(StrCat(name, " outputs last"), Permuted(weights, order));
  ctx.pass().decisions->Record(
      {"layout",
       StrCat("weights '", name, "' [", node.name, "]"),
       "output channels innermost",
       "rule: neighbouring threads compute neighbouring output channels",
       "lower",
       -1,
       {{"model order", "neighbouring threads would read far apart", -1}}});
  return {stored.buffer,
          {weights.dtype(), weights.shape(), ir::StridesInOrder(weights.shape(), order), 0}};
}

namespace {

ValueView WeightsFor(LowerContext& ctx, const ir::Node& node, bool transposed) {
  const ir::Value& w = ctx.value(node.inputs[1]);
  if (ctx.pass().device.backend != abi::Backend::kCuda || !w.is_constant()) {
    return ctx.Get(node.inputs[1]);
  }
  return StoredWeights(ctx, node, w.name, w.constant, transposed);
}

}  // namespace

Status LowerConv(LowerContext& ctx, const ir::Node& node) {
  const bool transposed = node.op == "ConvTranspose";
  const ValueView x = ctx.Get(node.inputs[0]);
  const Dims& out_shape = ctx.value(node.outputs[0]).shape;
  AICF_ASSIGN_OR_RETURN(const ir::Window window, ir::ResolveWindow(ctx.graph(), node));
  const ValueView w = WeightsFor(ctx, node, transposed);
  const ValueView out = ctx.DefineChannelsLast(node, node.outputs[0]);
  abi::Problem p;
  p.family = abi::Family::kConv;
  p.attrs = abi::ConvAttrs{window.strides,  window.dilations, window.pads_begin,
                           window.pads_end, window.group,     transposed};
  p.math = ProductMath(ctx, x.view.dtype);
  p.inputs = {x.view, w.view};
  OperandExpr expr(1);
  uint16_t value = expr.Raw(x.view.dtype);
  if (node.input(2) != ir::kNoValue) {
    const ValueView bias = PerChannel(ctx.Get(node.inputs[2]), out_shape);
    value = expr.builder().Binary(abi::ExprOp::kAdd, value, expr.Load(bias));
  }
  EmitWithEpilogue(ctx, node, std::move(p), {x.buffer, w.buffer}, expr, value, out);
  return OkStatus();
}

}  // namespace aicf
