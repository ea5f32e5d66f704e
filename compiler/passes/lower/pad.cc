#include <algorithm>

#include "compiler/ir/infer/infer.h"
#include "compiler/ir/views.h"
#include "compiler/passes/lower/copy_step.h"
#include "compiler/passes/lower/lowerings.h"
#include "compiler/passes/lower/pad.h"

namespace aicf {
namespace {

// One run of an axis of a padded tensor: `count` elements from `from`, `step` apart (0 repeats).
struct Run {
  int64_t start, from, step, count;
};

std::vector<Run> ConstantRuns(int64_t extent, int64_t before, int64_t after) {
  const int64_t from = std::max<int64_t>(-before, 0);
  const int64_t count = extent + std::min<int64_t>(before, 0) + std::min<int64_t>(after, 0);
  if (count <= 0) return {};
  return {{std::max<int64_t>(before, 0), from, 1, count}};
}

std::vector<Run> EdgeRuns(int64_t extent, int64_t before, int64_t after) {
  std::vector<Run> runs = ConstantRuns(extent, before, after);
  if (before > 0) runs.push_back({0, 0, 0, before});
  if (after > 0) runs.push_back({extent + before, extent - 1, 0, after});
  return runs;
}

// The runs of an axis that is padded by reflecting it or by wrapping around. Output position p
// shows the input at p - before, reflected or wrapped into the axis; a run ends where that position
// turns back or jumps.
std::vector<Run> PeriodicRuns(int64_t extent, int64_t before, int64_t after, bool reflect) {
  std::vector<Run> runs;
  const int64_t total = extent + before + after;
  const int64_t period = reflect ? std::max<int64_t>(2 * (extent - 1), 1) : extent;
  for (int64_t at = 0; at < total;) {
    const int64_t phase = ((at - before) % period + period) % period;
    const bool backwards = reflect && extent > 1 && phase >= extent - 1;
    const int64_t from = backwards ? period - phase : phase;
    const int64_t left = backwards ? from : extent - phase;
    const int64_t count = std::min(std::max<int64_t>(left, 1), total - at);
    runs.push_back({at, from, backwards ? -1 : 1, count});
    at += count;
  }
  return runs;
}

std::vector<Run> RunsOf(std::string_view mode, int64_t extent, int64_t before, int64_t after) {
  if (mode == "constant") return ConstantRuns(extent, before, after);
  if (extent == 0) return {};
  if (mode == "edge") return EdgeRuns(extent, before, after);
  return PeriodicRuns(extent, before, after, mode == "reflect");
}

// Adds a piece for every combination of one run per axis.
void AddPieces(const ValueView& x, const std::vector<std::vector<Run>>& runs, size_t axis,
               Piece piece, std::vector<Piece>& out) {
  if (axis == runs.size()) {
    out.push_back(std::move(piece));
    return;
  }
  const int a = static_cast<int>(axis);
  for (const Run& run : runs[axis]) {
    Piece next = piece;
    next.start[a] = run.start;
    next.from.view.shape[a] = run.count;
    next.from.view.offset += run.from * x.view.strides[a];
    next.from.view.strides[a] = run.step * x.view.strides[a];
    AddPieces(x, runs, axis + 1, std::move(next), out);
  }
}

// Emits one step where the pieces fit into one; otherwise steps for each run of the first axis that
// has several.
void EmitRuns(LowerContext& ctx, const ir::Node& node, const ValueView& x,
              const std::vector<std::vector<Run>>& runs, const ValueView& to) {
  const int rank = to.view.shape.rank();
  size_t count = 1;
  for (const std::vector<Run>& along : runs) count *= along.size();
  if (count <= kMaxPieces) {
    std::vector<Piece> pieces;
    AddPieces(x, runs, 0, {x, Dims::Filled(rank, 0)}, pieces);
    EmitPieces(ctx, node, pieces, to, std::nullopt);
    return;
  }
  int axis = 0;
  while (runs[axis].size() == 1) ++axis;
  for (Run run : runs[axis]) {
    Dims start = Dims::Filled(rank, 0), extents = to.view.shape;
    start[axis] = run.start;
    extents[axis] = run.count;
    run.start = 0;
    std::vector<std::vector<Run>> some = runs;
    some[axis] = {run};
    EmitRuns(ctx, node, x, some, {to.buffer, ir::WindowOf(to.view, start, extents)});
  }
}

double FillOf(const ir::Value& v) {
  return IsFloat(v.dtype) ? v.constant.FloatAt(0) : static_cast<double>(v.constant.IntAt(0));
}

ValueView Empty(ValueView x) {
  x.view.shape = Dims::Filled(x.view.shape.rank(), 0);
  return x;
}

// Adds the border as pieces that repeat a computed value. Axis by axis, these are the parts before
// and after the interior; they span the interior along axes already done, and the whole of the
// other axes.
void AddBorder(const ValueView& value, const Piece& interior, const Dims& shape,
               std::vector<Piece>& out) {
  Dims start = Dims::Filled(shape.rank(), 0), extents = shape;
  auto add = [&](int axis, int64_t from, int64_t count) {
    Piece piece{value, start};
    piece.start[axis] = from;
    Dims window = extents;
    window[axis] = count;
    piece.from.view.shape = window;
    piece.from.view.strides = Dims::Filled(shape.rank(), 0);
    if (abi::ElementsOf(piece.from.view) > 0) out.push_back(std::move(piece));
  };
  for (int i = 0; i < shape.rank(); ++i) {
    const int64_t end = interior.start[i] + interior.from.view.shape[i];
    add(i, 0, interior.start[i]);
    add(i, end, shape[i] - end);
    start[i] = interior.start[i];
    extents[i] = interior.from.view.shape[i];
  }
}

}  // namespace

namespace {

// Constant padding: the interior, and a fill or a computed value around it.
void EmitConstantPad(LowerContext& ctx, const ir::Node& node, const ValueView& x, ir::ValueId value,
                     const std::vector<std::vector<Run>>& runs, const ValueView& to) {
  std::vector<Piece> pieces;
  AddPieces(x, runs, 0, {x, Dims::Filled(to.view.shape.rank(), 0)}, pieces);
  if (value == ir::kNoValue || ctx.value(value).is_constant()) {
    EmitPieces(ctx, node, pieces, to, value == ir::kNoValue ? 0.0 : FillOf(ctx.value(value)));
    return;
  }
  const Piece interior =
      pieces.empty() ? Piece{Empty(x), Dims::Filled(to.view.shape.rank(), 0)} : pieces[0];
  AddBorder(ctx.Get(value), interior, to.view.shape, pieces);
  EmitPieces(ctx, node, pieces, to, std::nullopt);
}

}  // namespace

ValueView PaddedChannelsLast(LowerContext& ctx, const ir::Node& node, ir::ValueId data,
                             const Dims& begin, const Dims& end, ir::ValueId value) {
  const ValueView x = ctx.Get(data);
  const Dims& shape = x.view.shape;
  Dims padded = shape;
  std::vector<std::vector<Run>> runs;
  for (int i = 0; i < shape.rank(); ++i) {
    const int64_t before = i < 2 ? 0 : begin[i - 2], after = i < 2 ? 0 : end[i - 2];
    padded[i] += before + after;
    runs.push_back(ConstantRuns(shape[i], before, after));
  }
  const std::string name = StrCat(ctx.value(data).name, " padded with its zero point");
  const ValueView to = ctx.Temp(name, x.view.dtype, padded, ir::ChannelsLastOrder(shape.rank()));
  EmitConstantPad(ctx, node, x, value, runs, to);
  ctx.RecordCopy(node, name, "padding that reads as the zero point is part of the data");
  return to;
}

Status LowerPad(LowerContext& ctx, const ir::Node& node) {
  const ir::ValueId out = node.outputs[0];
  const ValueView x = ctx.Get(node.inputs[0]);
  const int rank = x.view.shape.rank();
  const std::string mode = node.Str("mode", "constant");
  AICF_ASSIGN_OR_RETURN(const ir::PadSpec pads, ir::ResolvePad(ctx.graph(), node));
  if (ctx.value(out).shape == x.view.shape && pads.begin == Dims::Filled(rank, 0)) {
    return LowerIdentity(ctx, node);
  }
  std::vector<std::vector<Run>> runs;
  for (int i = 0; i < rank; ++i) {
    runs.push_back(RunsOf(mode, x.view.shape[i], pads.begin[i], pads.end[i]));
  }
  const ValueView to = ctx.DefineLike(out, x);
  if (mode == "constant") {
    EmitConstantPad(ctx, node, x, node.input(2), runs, to);
  } else {
    EmitRuns(ctx, node, x, runs, to);
  }
  RecordCopy(ctx, node, StrCat(mode, " padding writes every element once"));
  return OkStatus();
}

}  // namespace aicf
