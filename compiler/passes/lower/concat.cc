// Ops that gather several windows, or one window several times, into one buffer.
#include <algorithm>

#include "compiler/ir/infer/infer.h"
#include "compiler/ir/views.h"
#include "compiler/passes/lower/copy_step.h"
#include "compiler/passes/lower/lowerings.h"

namespace aicf {
namespace {

const ValueView* Largest(const std::vector<Piece>& pieces) {
  const Piece* best = &pieces[0];
  for (const Piece& p : pieces) {
    if (abi::ElementsOf(p.from.view) > abi::ElementsOf(best->from.view)) best = &p;
  }
  return &best->from;
}

}  // namespace

Status LowerConcat(LowerContext& ctx, const ir::Node& node) {
  const ir::ValueId out = node.outputs[0];
  const Dims& shape = ctx.value(out).shape;
  AICF_ASSIGN_OR_RETURN(const int axis, ir::NormalizeAxis(node.Int("axis", 0), shape.rank()));
  std::vector<Piece> pieces;
  Dims start = Dims::Filled(shape.rank(), 0);
  for (ir::ValueId id : node.inputs) {
    if (abi::ElementsOf(ctx.Get(id).view) > 0) pieces.push_back({ctx.Get(id), start});
    start[axis] += ctx.value(id).shape[axis];
  }
  if (pieces.size() == 1) {
    ctx.Alias(out, pieces[0].from);
    return OkStatus();
  }
  if (pieces.empty()) {
    ctx.Define(out);
    return OkStatus();
  }
  const ValueView to = ctx.DefineLike(out, *Largest(pieces));
  for (size_t first = 0; first < pieces.size(); first += kMaxPieces) {
    const size_t last = std::min(pieces.size(), first + kMaxPieces);
    std::vector<Piece> some(pieces.begin() + first, pieces.begin() + last);
    Dims window_start = some[0].start;
    Dims extents = shape;
    extents[axis] =
        (last < pieces.size() ? pieces[last].start[axis] : shape[axis]) - window_start[axis];
    for (Piece& p : some) p.start[axis] -= window_start[axis];
    EmitPieces(ctx, node, some, {to.buffer, ir::WindowOf(to.view, window_start, extents)}, {});
  }
  RecordCopy(ctx, node, StrCat("concatenates ", pieces.size(), " pieces into one buffer"));
  return OkStatus();
}

Status LowerTile(LowerContext& ctx, const ir::Node& node) {
  const ir::ValueId out = node.outputs[0];
  const ValueView x = ctx.Get(node.inputs[0]);
  AICF_ASSIGN_OR_RETURN(const auto given, ir::ConstantInts(ctx.graph(), node, 1, "repeats"));
  const std::vector<int64_t>& repeats = *given;
  // Each repeated axis becomes two: the repetition, with stride 0, and the axis itself.
  Dims shape, strides;
  for (int i = 0; i < x.view.shape.rank(); ++i) {
    const bool repeated = repeats[i] != 1 && x.view.shape[i] != 1;
    if (shape.rank() + (repeated ? 2 : 1) > kMaxRank) {
      return Error(Code::kUnsupported, "Tile repeats too many axes of a rank ", x.view.shape.rank(),
                   " tensor");
    }
    if (repeated) {
      shape.push_back(repeats[i]);
      strides.push_back(0);
    }
    shape.push_back(repeated ? x.view.shape[i] : ctx.value(out).shape[i]);
    strides.push_back(repeated || repeats[i] == 1 ? x.view.strides[i] : 0);
  }
  const ValueView tiled{x.buffer, {x.view.dtype, shape, strides, x.view.offset}};
  if (const auto view = ir::Reshape(tiled.view, ctx.value(out).shape)) {
    ctx.Alias(out, {x.buffer, *view});
    return OkStatus();
  }
  const ValueView to = ctx.DefineLike(out, x);
  ctx.EmitCopy(node, tiled, {to.buffer, *ir::Reshape(to.view, shape)},
               "a repeated axis longer than one has no stride", Reason::kOnlyLegal);
  return OkStatus();
}

}  // namespace aicf
