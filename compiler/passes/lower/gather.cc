#include "compiler/ir/infer/infer.h"
#include "compiler/ir/views.h"
#include "compiler/passes/lower/lowerings.h"
#include "compiler/passes/lower/operand_expr.h"

namespace aicf {
namespace {

// Constant indices first, first + step, .., which a strided window can express.
struct Progression {
  int64_t first = 0;
  int64_t step = 1;
};

std::optional<Progression> AsProgression(const ir::Value& indices, int64_t extent) {
  const ir::Tensor& t = indices.constant;
  if (!indices.is_constant() || t.count() == 0 || indices.shape.rank() > 1) return std::nullopt;
  auto at = [&](int64_t i) { return t.IntAt(i) < 0 ? t.IntAt(i) + extent : t.IntAt(i); };
  Progression p{at(0), t.count() > 1 ? at(1) - at(0) : 1};
  for (int64_t i = 0; i < t.count(); ++i) {
    if (at(i) < 0 || at(i) >= extent || at(i) != p.first + i * p.step) return std::nullopt;
  }
  return p;
}

}  // namespace

Status LowerGather(LowerContext& ctx, const ir::Node& node) {
  const ir::ValueId out = node.outputs[0];
  const ValueView data = ctx.Get(node.inputs[0]);
  const int rank = data.view.shape.rank();
  AICF_ASSIGN_OR_RETURN(const int axis, ir::NormalizeAxis(node.Int("axis", 0), rank));
  const ir::Value& indices = ctx.value(node.inputs[1]);
  if (const auto p = AsProgression(indices, data.view.shape[axis])) {
    Dims starts = Dims::Filled(rank, 0), steps = Dims::Filled(rank, 1), extents = data.view.shape;
    starts[axis] = p->first;
    steps[axis] = p->step;
    extents[axis] = indices.constant.count();
    const abi::View window = ir::WindowOf(data.view, starts, extents, steps);
    ctx.Alias(out, {data.buffer, *ir::Reshape(window, ctx.value(out).shape)});
    return OkStatus();
  }
  const ValueView index = ctx.Get(node.inputs[1]);
  abi::Problem p;
  p.family = abi::Family::kGather;
  p.attrs = abi::GatherAttrs{axis};
  p.inputs = {data.view, index.view};
  EmitPlain(ctx, node, std::move(p), {data.buffer, index.buffer}, ctx.Define(out));
  return OkStatus();
}

Status LowerTopK(LowerContext& ctx, const ir::Node& node) {
  const ValueView x = ctx.Get(node.inputs[0]);
  abi::TopKAttrs attrs;
  AICF_ASSIGN_OR_RETURN(attrs.axis, ir::NormalizeAxis(node.Int("axis", -1), x.view.shape.rank()));
  AICF_ASSIGN_OR_RETURN(const auto k, ir::ConstantInts(ctx.graph(), node, 1, "k"));
  attrs.largest = node.Int("largest", 1) != 0;
  attrs.k = k->at(0);
  Dims shape = x.view.shape;
  shape[static_cast<int>(attrs.axis)] = attrs.k;
  auto define = [&](size_t i, DType dtype) {
    const bool used = i < node.outputs.size() && node.outputs[i] != ir::kNoValue;
    return used ? ctx.Define(node.outputs[i])
                : ctx.Temp(StrCat(node.name, " unused"), dtype, shape);
  };
  const ValueView values = define(0, x.view.dtype);
  const ValueView places = define(1, DType::kI64);
  abi::Problem p;
  p.family = abi::Family::kTopK;
  p.attrs = attrs;
  p.inputs = {x.view};
  p.core_inputs = 1;
  p.outputs = {values.view, places.view};
  ctx.Emit(node, std::move(p), {x.buffer}, {values.buffer, places.buffer});
  return OkStatus();
}

}  // namespace aicf
