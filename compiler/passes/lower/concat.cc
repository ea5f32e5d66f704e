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

namespace {

// The view's elements with every axis repeated so often. A repeated axis becomes two: the
// repetition, with stride 0, and the axis itself. nullopt where these are too many.
std::optional<abi::View> Repeated(const abi::View& v, const std::vector<int64_t>& repeats) {
  Dims shape, strides;
  for (int i = 0; i < v.shape.rank(); ++i) {
    const bool two = repeats[i] != 1 && v.shape[i] != 1;
    if (shape.rank() + (two ? 2 : 1) > kMaxRank) return std::nullopt;
    if (two) {
      shape.push_back(repeats[i]);
      strides.push_back(0);
    }
    shape.push_back(two ? v.shape[i] : v.shape[i] * repeats[i]);
    strides.push_back(two || repeats[i] == 1 ? v.strides[i] : 0);
  }
  return abi::View{v.dtype, shape, strides, v.offset};
}

Dims TiledShape(const Dims& shape, const std::vector<int64_t>& repeats) {
  Dims tiled = shape;
  for (int i = 0; i < shape.rank(); ++i) tiled[i] *= repeats[i];
  return tiled;
}

// Takes repeats from the last axes of `left`, as many as one view can have; all 1 where it can have
// none.
std::vector<int64_t> TakeLast(const abi::View& v, std::vector<int64_t>& left) {
  std::vector<int64_t> taken(left.size(), 1);
  for (size_t i = left.size(); i-- > 0;) {
    std::swap(taken[i], left[i]);
    if (Repeated(v, taken)) continue;
    std::swap(taken[i], left[i]);
    break;
  }
  return taken;
}

constexpr std::string_view kTileCopies = "a repeated axis longer than one has no stride";

}  // namespace

Status LowerTile(LowerContext& ctx, const ir::Node& node) {
  const ir::ValueId out = node.outputs[0];
  ValueView x = ctx.Get(node.inputs[0]);
  AICF_ASSIGN_OR_RETURN(const auto given, ir::ConstantInts(ctx.graph(), node, 1, "repeats"));
  std::vector<int64_t> left = *given;
  std::optional<abi::View> tiled = Repeated(x.view, left);
  while (!tiled) {
    const std::vector<int64_t> taken = TakeLast(x.view, left);
    const Dims shape = TiledShape(x.view.shape, taken);
    if (shape == x.view.shape) {
      return Error(Code::kUnsupported, "Tile repeats an axis of a rank ", shape.rank(), " tensor");
    }
    const abi::View some = *Repeated(x.view, taken);
    const ValueView to = ctx.Temp(ctx.value(out).name, x.view.dtype, shape);
    ctx.EmitCopy(node, {x.buffer, some}, {to.buffer, *ir::Reshape(to.view, some.shape)},
                 std::string(kTileCopies), Reason::kOnlyLegal);
    x = to;
    tiled = Repeated(x.view, left);
  }
  if (const auto view = ir::Reshape(*tiled, ctx.value(out).shape)) {
    ctx.Alias(out, {x.buffer, *view});
    return OkStatus();
  }
  const ValueView to = ctx.DefineLike(out, x);
  ctx.EmitCopy(node, {x.buffer, *tiled}, {to.buffer, *ir::Reshape(to.view, tiled->shape)},
               std::string(kTileCopies), Reason::kOnlyLegal);
  return OkStatus();
}

}  // namespace aicf
