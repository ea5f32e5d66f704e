#include <algorithm>

#include "compiler/ir/views.h"
#include "compiler/passes/lowered/copy_pieces.h"
#include "compiler/passes/lowered/fuse.h"
#include "compiler/passes/lowered/kernel_guard.h"
#include "compiler/passes/lowered/passes.h"
#include "compiler/passes/lowered/split_domain.h"

namespace aicf {
namespace {

// Each reader of a value is compared with each of its writers, here, in the plan and when an
// artifact is verified. So a value that many others read, or read in parts, has at most so many
// writers.
constexpr size_t kMostWriters = 256;

// All steps that change when a producer writes straight into a piece's window.
struct Rewrite {
  std::string refusal;
  std::vector<std::pair<int, ir::LoweredStep>> steps;
};

// The step with all its views of `piece.from` replaced by views of the window; nullopt when the
// window has no counterpart of one of them.
std::optional<ir::LoweredStep> Moved(ir::LoweredStep step, const CopyPiece& piece) {
  auto change = [&](std::vector<ir::BufferId>& ids, std::vector<abi::View>& views) {
    for (size_t k = 0; k < ids.size(); ++k) {
      if (ids[k] != piece.from) continue;
      const auto view = ir::Remap(views[k], piece.source, piece.window);
      if (!view) return false;
      ids[k] = piece.to;
      views[k] = *view;
    }
    return true;
  };
  if (!change(step.inputs, step.problem.inputs) || !change(step.outputs, step.problem.outputs)) {
    return std::nullopt;
  }
  return step;
}

// The shape of the piece with its axes in the order in which the source stores them.
Dims StoredShape(const CopyPiece& piece) {
  return ir::Permute(piece.source, ir::AxisOrder(piece.source)).shape;
}

// Redirects a step's operands to the window. Where the window splits axes of the step, as windows
// of an image do, the step is tried over the split axes.
std::string Redirect(ir::LoweredStep& step, const CopyPiece& piece, const PassContext& context) {
  auto moved = Moved(step, piece);
  if (!moved) {
    const auto split = OverShape(step, StoredShape(piece));
    if (split) moved = Moved(*split, piece);
  }
  if (!moved) return StrCat("domain: ", NamesOf(step), " works on another shape than the window");
  const abi::Problem before = std::move(step.problem);
  step = *std::move(moved);
  std::string lost = LosesKernel(before, step.problem, context.device);
  return lost.empty() ? SlowerThanPixels(before, step.problem, context) : lost;
}

bool IsNextState(const ir::Lowered& lowered, ir::BufferId b) {
  return std::ranges::any_of(lowered.states,
                             [b](const ir::LoweredState& s) { return s.present == b; });
}

// Why another reader of the source cannot read its elements in the window instead; empty if all
// can. Mostly they can: the elements are written before the reader runs, and it does not matter
// what the rest of the buffer holds by then. But the next value of a state may only be read once it
// is complete, because it may be made in the old value's place.
std::string CheckReaders(ir::StepEditor& editor, const CopyPiece& piece, int copy) {
  const std::string name = StrCat("'", editor.buffer(piece.from).name, "'");
  int last_writer = -1;
  for (int w : editor.writers(piece.to)) {
    const bool stays = w != copy || PiecesOf(editor.step(copy)).size() > 1;
    if (stays) last_writer = std::max(last_writer, w);
  }
  for (int r : editor.readers(piece.from)) {
    if (r == copy) continue;
    const ir::LoweredStep& reader = editor.step(r);
    std::string rest = CheckWholeReader(editor, r, piece.from);
    if (!rest.empty()) return rest;
    for (const schema::Guard& g : reader.guards) {
      if (g.buffer == piece.from)
        return StrCat("guard: ", name, " says whether ", NamesOf(reader), " runs");
    }
    if (r < last_writer && IsNextState(editor.lowered(), piece.to)) {
      return StrCat("single-use: ", NamesOf(reader), " reads ", name,
                    " before the state's next value is complete");
    }
  }
  return "";
}

Rewrite WriteThrough(ir::StepEditor& editor, const PassContext& context, const CopyPiece& piece,
                     int copy) {
  const ir::LoweredBuffer& source = editor.buffer(piece.from);
  if (source.role != schema::Role::kTemp) {
    return {StrCat("role: '", source.name, "' is ", schema::RoleName(source.role)), {}};
  }
  if (editor.buffer(piece.to).role == schema::Role::kCarried) {
    return {StrCat("loop: '", editor.buffer(piece.to).name, "' keeps its value up to the copy"),
            {}};
  }
  const auto& copy_inputs = editor.step(copy).inputs;
  if (std::count(copy_inputs.begin(), copy_inputs.end(), piece.from) != 1) {
    return {StrCat("single-use: '", source.name, "' is several pieces of the copy"), {}};
  }
  if (!ir::CoversWhole(piece.source, *ElementCount(source.shape))) {
    return {StrCat("whole: the copy takes only a part of '", source.name, "', or repeats it"), {}};
  }
  const bool many = editor.writers(piece.to).size() > kMostWriters;
  const bool read_on = editor.OnlyReader(piece.from) != copy;
  if (many && (read_on || editor.readers(piece.to).size() > kMostWriters)) {
    return {StrCat("limits: more than ", kMostWriters, " steps would write '",
                   editor.buffer(piece.to).name, "', which others read"),
            {}};
  }
  Rewrite out;
  out.refusal = CheckReaders(editor, piece, copy);
  std::vector<int> touched = editor.writers(piece.from);
  for (int r : editor.readers(piece.from)) {
    if (r != copy) touched.push_back(r);
  }
  for (int s : touched) {
    if (!out.refusal.empty()) return out;
    ir::LoweredStep step = editor.step(s);
    if (step.loop != editor.step(copy).loop) {
      out.refusal = StrCat("loop: ", NamesOf(step), " does not run as often as the copy");
      return out;
    }
    out.refusal = Redirect(step, piece, context);
    out.steps.emplace_back(s, std::move(step));
  }
  return out;
}

abi::Problem CopyProblem(const abi::View& from, const abi::View& to) {
  abi::Problem p;
  p.family = abi::Family::kCopy;
  p.attrs = abi::CopyAttrs{{Dims::Filled(to.shape.rank(), 0)}, false, 0};
  p.inputs = {from};
  p.outputs = {to};
  p.core_inputs = 1;
  return p;
}

// The axis along which the pieces follow each other, or -1 when they differ along several.
int ConcatAxis(const abi::CopyAttrs& attrs) {
  int axis = -1;
  for (const Dims& start : attrs.starts) {
    for (int i = 0; i < start.rank(); ++i) {
      if (start[i] == attrs.starts[0][i] || i == axis) continue;
      if (axis >= 0) return -1;
      axis = i;
    }
  }
  return axis;
}

// The steps that copy the pieces that are left. Pieces that are neighbours along the concatenation
// stay one step.
std::vector<ir::LoweredStep> Remaining(const ir::LoweredStep& copy, const std::vector<bool>& gone) {
  const std::vector<CopyPiece> pieces = PiecesOf(copy);
  std::vector<ir::LoweredStep> steps;
  const bool is_copy = copy.problem.family == abi::Family::kCopy;
  const int axis = is_copy ? ConcatAxis(copy.problem.as<abi::CopyAttrs>()) : -1;
  int64_t end = -1;  // where the last kept piece ends along the axis
  for (size_t k = 0; k < pieces.size(); ++k) {
    if (gone[k]) continue;
    const int64_t start = axis < 0 ? 0 : copy.problem.as<abi::CopyAttrs>().starts[k][axis];
    if (axis >= 0 && start == end) {
      ir::LoweredStep& last = steps.back();
      auto& attrs = std::get<abi::CopyAttrs>(last.problem.attrs);
      Dims at = Dims::Filled(pieces[k].source.shape.rank(), 0);
      at[axis] = last.problem.outputs[0].shape[axis];
      attrs.starts.push_back(at);
      last.problem.outputs[0].shape[axis] += pieces[k].source.shape[axis];
      last.problem.inputs.push_back(pieces[k].source);
      last.problem.core_inputs = static_cast<int>(last.problem.inputs.size());
      last.inputs.push_back(pieces[k].from);
    } else {
      steps.push_back({copy.sources,
                       CopyProblem(pieces[k].source, pieces[k].window),
                       {pieces[k].from},
                       copy.outputs,
                       copy.guards,
                       copy.loop});
    }
    end = axis < 0 ? -1 : start + pieces[k].source.shape[axis];
  }
  return steps;
}

// Lets producers write the copy's pieces themselves where that is possible. Returns for every piece
// whether its producer does.
std::vector<bool> MoveProducers(ir::StepEditor& editor, const PassContext& context, int c,
                                Decision& d) {
  const std::vector<CopyPiece> pieces = PiecesOf(editor.step(c));
  std::vector<bool> gone(pieces.size(), false);
  for (size_t k = 0; k < pieces.size(); ++k) {
    Rewrite rewrite = WriteThrough(editor, context, pieces[k], c);
    gone[k] = rewrite.refusal.empty();
    for (auto& [s, step] : rewrite.steps) {
      if (gone[k]) editor.Replace(s, std::move(step));
    }
    if (gone[k]) continue;
    d.alternatives.push_back(
        {StrCat("producer of '", editor.buffer(pieces[k].from).name, "' writes in place"),
         rewrite.refusal, -1});
  }
  return gone;
}

// Whether all readers of the copy now read its source instead. Tried for a copy of one part of a
// buffer, such as a concatenation whose pieces are neighbours in a larger concatenation.
bool BecomesView(ir::StepEditor& editor, const PassContext& context, int c, Decision& d) {
  const std::vector<CopyPiece> pieces = PiecesOf(editor.step(c));
  if (pieces.size() != 1 || pieces[0].from == pieces[0].to) return false;
  const CopyPiece& piece = pieces[0];
  const ir::LoweredBuffer& source = editor.buffer(piece.from);
  if (editor.buffer(piece.to).role != schema::Role::kTemp || editor.OnlyWriter(piece.to) != c ||
      ir::CoversWhole(piece.source, *ElementCount(source.shape))) {
    return false;
  }
  ReadThroughs through = ReadThroughCopy(editor, context, c);
  for (Alternative& refused : through.refused) d.alternatives.push_back(std::move(refused));
  return through.all();
}

}  // namespace

Status EliminateCopy(ir::StepEditor& editor, PassContext& context, int c, std::string_view pass) {
  if (!editor.alive(c) || !IsPureCopy(editor.step(c))) return OkStatus();
  if (ReadsOtherBits(editor, editor.step(c))) return OkStatus();
  Decision d = CopyDecision(context, editor.step(c), pass);
  if (KeepByWish(context, d)) return OkStatus();
  editor.Replace(c, MergedPieces(editor.step(c)));
  const ir::LoweredStep copy = editor.step(c);
  const std::vector<bool> gone = MoveProducers(editor, context, c, d);
  const auto removed = std::count(gone.begin(), gone.end(), true);
  const bool view = removed == 0 && BecomesView(editor, context, c, d);
  if (view) {
    d.choice = "removed";
    d.Because(Reason::kRule, StrCat("every reader reads its part of '",
                                    editor.buffer(copy.inputs[0]).name, "' directly"));
  } else if (removed == 0) {
    d.choice = "copy";
    d.Because(Reason::kOnlyLegal);
  } else {
    d.choice = StrCat("removed ", removed, " of ", gone.size(), " pieces");
    d.Because(Reason::kRule, "producers write into the copy's buffer themselves");
  }
  AICF_RETURN_IF_ERROR(RecordCopyDecision(context, std::move(d)));
  if (view) {
    editor.Erase(c);
    return OkStatus();
  }
  if (removed == 0) return OkStatus();
  std::vector<ir::LoweredStep> rest = Remaining(copy, gone);
  if (rest.empty()) {
    editor.Erase(c);
  } else {
    editor.ReplaceWithMany(c, std::move(rest));
  }
  return OkStatus();
}

// Walks backwards for two reasons. An inner concatenation is first moved as a whole into the buffer
// of the outer one, and its own pieces then follow. And of concatenations that each add pieces to
// the one before (DenseNet), the last one, which holds all pieces, gets them, and the others become
// parts of it.
Status EliminateCopies(ir::Lowered& lowered, PassContext& context) {
  ir::StepEditor editor(lowered);
  for (int c = editor.size() - 1; c >= 0; --c) {
    AICF_RETURN_IF_ERROR(EliminateCopy(editor, context, c, "eliminate-copies"));
  }
  editor.Finish();
  return OkStatus();
}

}  // namespace aicf
