#include "compiler/ir/views.h"
#include "compiler/passes/lowered/copy_pieces.h"
#include "compiler/passes/lowered/fuse.h"
#include "compiler/passes/lowered/kernel_guard.h"
#include "compiler/passes/lowered/passes.h"

namespace aicf {
namespace {

// The operand's view followed through the piece that it reads, if it reads exactly one.
std::optional<ValueView> Follow(const abi::View& read, const std::vector<CopyPiece>& pieces) {
  for (const CopyPiece& piece : pieces) {
    if (const auto view = ir::Remap(read, piece.window, piece.source)) return {{piece.from, *view}};
  }
  return std::nullopt;
}

// The reader with all its operands in the copy's buffer read from the copy's sources.
Fusion ReadThrough(const ir::StepEditor& editor, int c, int r, const ir::LoweredStep& copy,
                   const abi::DeviceSpec& device) {
  const ir::LoweredStep& reader = editor.step(r);
  const std::vector<CopyPiece> pieces = PiecesOf(copy);
  Fusion out;
  out.step = reader;
  out.refusal = CheckWholeReader(editor, r, copy.outputs[0]);
  if (!out.refusal.empty()) return out;
  for (const schema::Guard& g : reader.guards) {
    if (g.buffer != copy.outputs[0]) continue;
    out.refusal = StrCat("guard: '", editor.buffer(g.buffer).name, "' says whether ",
                         NamesOf(reader), " runs");
    return out;
  }
  for (size_t k = 0; k < reader.inputs.size(); ++k) {
    if (reader.inputs[k] != copy.outputs[0]) continue;
    const auto source = Follow(reader.problem.inputs[k], pieces);
    if (!source) {
      out.refusal =
          StrCat("domain: ", NamesOf(reader), " reads ", ToString(reader.problem.inputs[k].shape),
                 ", which no strides of one source express");
      return out;
    }
    if (editor.ChangesBetween(source->buffer, c, r)) {
      out.refusal = StrCat("loop: '", editor.buffer(source->buffer).name, "' changes before ",
                           NamesOf(reader), " reads it");
      return out;
    }
    out.step.inputs[k] = source->buffer;
    out.step.problem.inputs[k] = source->view;
  }
  out.refusal = LosesKernel(reader.problem, out.step.problem, device);
  return out;
}

// Whether step `c` is a pure copy that alone makes a temporary, and something reads that.
bool CanForward(const ir::StepEditor& editor, int c) {
  if (!editor.alive(c) || !IsPureCopy(editor.step(c))) return false;
  const ir::BufferId out = editor.step(c).outputs[0];
  return editor.buffer(out).role == schema::Role::kTemp &&
         !ReadsOtherBits(editor, editor.step(c)) && editor.OnlyWriter(out) == c &&
         !editor.readers(out).empty();
}

}  // namespace

Status ForwardCopy(ir::StepEditor& editor, PassContext& context, int c, std::string_view pass) {
  if (!CanForward(editor, c)) return OkStatus();
  Decision d = CopyDecision(context, editor.step(c), pass);
  if (KeepByWish(context, d)) return OkStatus();
  d.choice = "removed";
  d.Because(Reason::kRule, "every reader reads the source directly");
  ReadThroughs through = ReadThroughCopy(editor, context, c);
  if (through.all()) {
    editor.Erase(c);
  } else {
    d.choice = "copy";
    d.Because(Reason::kOnlyLegal);
    d.alternatives = std::move(through.refused);
  }
  return RecordCopyDecision(context, std::move(d));
}

ReadThroughs ReadThroughCopy(ir::StepEditor& editor, const PassContext& context, int c) {
  const ir::LoweredStep copy = editor.step(c);
  ReadThroughs out;
  for (int r : std::vector<int>(editor.readers(copy.outputs[0]))) {
    Fusion through = ReadThrough(editor, c, r, copy, context.device);
    if (through.ok()) {
      editor.Replace(r, std::move(through.step));
    } else {
      out.refused.push_back(
          {StrCat("read through by ", NamesOf(editor.step(r))), through.refusal, -1});
    }
  }
  return out;
}

// In program order, so that a copy of a copy ends at the first source. A reader that can read
// through does so even where another keeps the copy alive: it then no longer waits for the copy.
Status ForwardCopies(ir::Lowered& lowered, PassContext& context) {
  ir::StepEditor editor(lowered);
  for (int c = 0; c < editor.size(); ++c) {
    AICF_RETURN_IF_ERROR(ForwardCopy(editor, context, c, "forward-copies"));
  }
  editor.Finish();
  return OkStatus();
}

}  // namespace aicf
