#include <algorithm>

#include "compiler/ir/views.h"
#include "compiler/passes/lowered/copy_pieces.h"
#include "compiler/passes/lowered/fuse.h"
#include "compiler/passes/lowered/kernel_guard.h"
#include "compiler/passes/lowered/passes.h"

namespace aicf {
namespace {

constexpr std::string_view kEliminateCopies = "eliminate-copies";

// All steps that change when a producer writes straight into a piece's window.
struct Rewrite {
  std::string refusal;
  std::vector<std::pair<int, ir::LoweredStep>> steps;
};

// Redirects one step's operands in `piece.from` to the window.
std::string Redirect(ir::LoweredStep& step, const CopyPiece& piece, const abi::DeviceSpec& device) {
  const abi::Problem before = step.problem;
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
    return StrCat("domain: ", NamesOf(step), " works on another shape than the window");
  }
  return LosesKernel(before, step.problem, device);
}

// Other readers of the source may read the window once the whole buffer is written.
std::string CheckReaders(const ir::StepEditor& editor, const CopyPiece& piece, int copy) {
  int last_writer = -1;
  for (int w : editor.writers(piece.to)) {
    const bool stays = w != copy || PiecesOf(editor.step(copy)).size() > 1;
    if (stays) last_writer = std::max(last_writer, w);
  }
  for (int r : editor.readers(piece.from)) {
    if (r == copy || (r > last_writer && !editor.IsMany(r))) continue;
    return StrCat("single-use: ", NamesOf(editor.step(r)), " reads '",
                  editor.buffer(piece.from).name, "' before the copied buffer is complete");
  }
  return "";
}

Rewrite WriteThrough(const ir::StepEditor& editor, const PassContext& context,
                     const CopyPiece& piece, int copy) {
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
    out.refusal = Redirect(step, piece, context.device);
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

// What is left of a copy: neighbours along the concatenation stay one step.
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

Status Eliminate(ir::StepEditor& editor, PassContext& context, int c) {
  const ir::LoweredStep copy = editor.step(c);
  Decision d = CopyDecision(context, copy, kEliminateCopies);
  if (KeepByWish(context, d)) return OkStatus();
  const std::vector<CopyPiece> pieces = PiecesOf(copy);
  std::vector<bool> gone(pieces.size(), false);
  for (size_t k = 0; k < pieces.size(); ++k) {
    Rewrite rewrite = WriteThrough(editor, context, pieces[k], c);
    if (!rewrite.refusal.empty()) {
      d.alternatives.push_back(
          {StrCat("producer of '", editor.buffer(pieces[k].from).name, "' writes in place"),
           rewrite.refusal, -1});
      continue;
    }
    for (auto& [s, step] : rewrite.steps) editor.Replace(s, std::move(step));
    gone[k] = true;
  }
  const auto removed = std::count(gone.begin(), gone.end(), true);
  d.choice = removed == 0 ? "copy" : StrCat("removed ", removed, " of ", pieces.size(), " pieces");
  if (removed == 0) {
    d.Because(Reason::kOnlyLegal);
  } else {
    d.Because(Reason::kRule, "producers write into the copy's buffer themselves");
  }
  AICF_RETURN_IF_ERROR(RecordCopyDecision(context, std::move(d)));
  if (removed == 0) return OkStatus();
  std::vector<ir::LoweredStep> rest = Remaining(copy, gone);
  if (rest.empty()) {
    editor.Erase(c);
  } else {
    editor.ReplaceWithMany(c, std::move(rest));
  }
  return OkStatus();
}

}  // namespace

// Backwards, so that a concatenation of concatenations is first moved as a whole into the outer
// buffer and its own pieces then follow.
Status EliminateCopies(ir::Lowered& lowered, PassContext& context) {
  ir::StepEditor editor(lowered);
  for (int c = editor.size() - 1; c >= 0; --c) {
    if (!editor.alive(c) || !IsPureCopy(editor.step(c))) continue;
    if (ReadsOtherBits(editor, editor.step(c))) continue;
    AICF_RETURN_IF_ERROR(Eliminate(editor, context, c));
  }
  editor.Finish();
  return OkStatus();
}

}  // namespace aicf
