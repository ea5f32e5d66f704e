// GridSample, RoiAlign, MaxRoiPool and the choice of boxes: one step each, and small ones that
// bring operands into the form the step wants.
#include <limits>

#include "compiler/ir/infer/infer.h"
#include "compiler/ir/views.h"
#include "compiler/passes/lower/lowerings.h"
#include "compiler/passes/lower/operand_expr.h"

namespace aicf {
namespace {

// A one-element operand as a vector of one.
ValueView AsVector(const ValueView& v) { return {v.buffer, *ir::Reshape(v.view, {1})}; }

template <class T>
ValueView ConstantVector(LowerContext& ctx, const ir::Node& node, DType dtype, T value) {
  const auto tensor = ir::Tensor::FromValues<T>(dtype, {1}, std::span<const T>(&value, 1));
  return ctx.Constant(StrCat(node.name, " default"), tensor);
}

void EmitRoi(LowerContext& ctx, const ir::Node& node, const abi::RoiAttrs& attrs,
             const ValueView& boxes, const ValueView& batch) {
  const ValueView x = ctx.Get(node.inputs[0]);
  abi::Problem p;
  p.family = abi::Family::kRoi;
  p.attrs = attrs;
  p.inputs = {x.view, boxes.view, batch.view};
  EmitPlain(ctx, node, std::move(p), {x.buffer, boxes.buffer, batch.buffer},
            ctx.Define(node.outputs[0]));
}

}  // namespace

Status LowerGridSample(LowerContext& ctx, const ir::Node& node) {
  const std::string mode = node.Str("mode", "linear");
  const std::string padding = node.Str("padding_mode", "zeros");
  abi::SampleAttrs attrs;
  attrs.mode = mode == "nearest" ? abi::ResizeMode::kNearest
               : mode == "cubic" ? abi::ResizeMode::kCubic
                                 : abi::ResizeMode::kLinear;
  attrs.padding = padding == "border"       ? abi::SamplePadding::kBorder
                  : padding == "reflection" ? abi::SamplePadding::kReflection
                                            : abi::SamplePadding::kZeros;
  attrs.align_corners = node.Int("align_corners", 0) != 0;
  const ValueView x = ctx.Get(node.inputs[0]), grid = ctx.Get(node.inputs[1]);
  abi::Problem p;
  p.family = abi::Family::kSample;
  p.attrs = attrs;
  p.inputs = {x.view, grid.view};
  EmitPlain(ctx, node, std::move(p), {x.buffer, grid.buffer}, ctx.DefineLike(node.outputs[0], x));
  return OkStatus();
}

Status LowerRoiAlign(LowerContext& ctx, const ir::Node& node) {
  abi::RoiAttrs attrs;
  attrs.kind =
      node.Str("mode", "avg") == "max" ? abi::RoiKind::kAlignMax : abi::RoiKind::kAlignAverage;
  attrs.spatial_scale = node.Float("spatial_scale", 1);
  attrs.sampling_ratio = node.Int("sampling_ratio", 0);
  attrs.half_pixel = node.Str("coordinate_transformation_mode", "half_pixel") == "half_pixel";
  EmitRoi(ctx, node, attrs, ctx.Get(node.inputs[1]), ctx.Get(node.inputs[2]));
  return OkStatus();
}

Status LowerMaxRoiPool(LowerContext& ctx, const ir::Node& node) {
  abi::RoiAttrs attrs;
  attrs.kind = abi::RoiKind::kPoolMax;
  attrs.spatial_scale = node.Float("spatial_scale", 1);
  // A row holds the index of a batch entry, as a float, and a box in it.
  const ValueView rows = ctx.Get(node.inputs[1]);
  const int64_t count = rows.view.shape[0];
  const ValueView boxes = {rows.buffer, ir::WindowOf(rows.view, {0, 1}, {count, 4})};
  const ValueView first = {rows.buffer,
                           *ir::Reshape(ir::WindowOf(rows.view, {0, 0}, {count, 1}), {count})};
  const ValueView batch = ctx.Temp(StrCat(node.name, " batch"), DType::kI64, {count});
  OperandExpr expr(0);
  const uint16_t value = expr.builder().Cast(expr.Load(first), DType::kI64);
  EmitElementwise(ctx, node, expr, value, batch);
  EmitRoi(ctx, node, attrs, boxes, batch);
  return OkStatus();
}

Status LowerSelectBoxes(LowerContext& ctx, const ir::Node& node) {
  const auto scalar = [&](size_t i, DType dtype, auto fallback) {
    const ir::ValueId id = node.input(i);
    if (id != ir::kNoValue) return AsVector(ctx.Get(id));
    return ConstantVector(ctx, node, dtype, fallback);
  };
  const ValueView operands[] = {ctx.Get(node.inputs[0]), ctx.Get(node.inputs[1]),
                                scalar(2, DType::kI64, int64_t{0}), scalar(3, DType::kF32, 0.0f),
                                // Without a threshold every score counts.
                                scalar(4, DType::kF32, -std::numeric_limits<float>::infinity())};
  abi::Problem p;
  p.family = abi::Family::kNms;
  p.attrs = abi::NmsAttrs{node.Int("center_point_box", 0) != 0};
  std::vector<ir::BufferId> buffers;
  for (const ValueView& v : operands) {
    p.inputs.push_back(v.view);
    buffers.push_back(v.buffer);
  }
  p.core_inputs = 5;
  const ValueView selected = ctx.DefineDense(node.outputs[0]);
  const ValueView count = ctx.DefineDense(node.outputs[1]);
  p.outputs = {selected.view, count.view};
  ctx.Emit(node, std::move(p), std::move(buffers), {selected.buffer, count.buffer});
  return OkStatus();
}

}  // namespace aicf
