#include "compiler/passes/lowered/drop_casts.h"

#include <algorithm>

#include "compiler/ir/views.h"
#include "compiler/passes/lowered/copy_pieces.h"

namespace aicf {
namespace {

constexpr std::string_view kChooseStorage = "choose-storage";

// Whether `narrowing` undoes `widening`: a 16-bit number that is widened to f32 and rounded to its
// own dtype again has the bits that it had.
bool GivesBack(const ir::LoweredStep& widening, const ir::LoweredStep& narrowing) {
  const DType narrow = widening.problem.inputs[0].dtype;
  return (narrow == DType::kF16 || narrow == DType::kBF16) &&
         widening.problem.outputs[0].dtype == DType::kF32 &&
         narrowing.problem.inputs[0].dtype == DType::kF32 &&
         narrowing.problem.outputs[0].dtype == narrow;
}

// Lets step s, which narrows what another cast has widened, read that cast's operand.
bool SkipWidening(ir::StepEditor& editor, PassContext& context, int s) {
  const ir::LoweredStep& narrowing = editor.step(s);
  if (!IsCast(narrowing)) return false;
  const int w = editor.OnlyWriter(narrowing.inputs[0]);
  if (w < 0 || w >= s || !IsCast(editor.step(w))) return false;
  const ir::LoweredStep widening = editor.step(w);
  if (!GivesBack(widening, narrowing) || ReadsOtherBits(editor, widening)) return false;
  if (editor.ChangesBetween(widening.inputs[0], w, s)) return false;
  const auto view = ir::Remap(narrowing.problem.inputs[0], widening.problem.outputs[0],
                              widening.problem.inputs[0]);
  if (!view) return false;
  ir::LoweredStep copy = narrowing;
  copy.problem.inputs[0] = *view;
  copy.inputs[0] = widening.inputs[0];
  editor.Replace(s, std::move(copy));
  const ir::BufferId wide = widening.outputs[0];
  const bool read = !editor.readers(wide).empty() || editor.IsCondition(wide);
  if (read || editor.buffer(wide).role != schema::Role::kTemp) return true;
  Decision d = CopyDecision(context, widening, kChooseStorage);
  d.choice = "removed";
  context.Record(
      d.Because(Reason::kRule, "whoever reads it rounds it back to the bits that it has widened"));
  editor.Erase(w);
  return true;
}

// Whether the copy keeps the order of the axes. One that changes it may be there because its reader
// wants that order.
bool KeepsOrder(const ir::LoweredStep& copy) {
  return ir::AxisOrder(copy.problem.inputs[0]) == ir::AxisOrder(copy.problem.outputs[0]);
}

}  // namespace

bool IsCast(const ir::LoweredStep& step) {
  const abi::Problem& p = step.problem;
  return p.family == abi::Family::kElementwise && p.inputs.size() == 1 && p.outputs.size() == 1 &&
         p.epilogue.nodes.size() == 1 && p.epilogue.nodes[0].op == abi::ExprOp::kInput;
}

// Works as forward-copies and eliminate-copies do: first, in program order, readers read a copy's
// source instead; then, backwards, producers write into the buffers of the copies that are left.
Status DropCasts(ir::Lowered& lowered, const std::vector<int>& casts, PassContext& context) {
  ir::StepEditor editor(lowered);
  std::vector<int> copies = casts;
  for (int s = 0; s < editor.size(); ++s) {
    const bool known = std::ranges::find(copies, s) != copies.end();
    if (SkipWidening(editor, context, s) && !known && KeepsOrder(editor.step(s))) {
      copies.push_back(s);
    }
  }
  std::ranges::sort(copies);
  std::erase_if(copies, [&](int c) { return !IsPureCopy(editor.step(c)); });
  for (int c : copies) {
    AICF_RETURN_IF_ERROR(ForwardCopy(editor, context, c, kChooseStorage));
  }
  for (int c : std::vector<int>(copies.rbegin(), copies.rend())) {
    AICF_RETURN_IF_ERROR(EliminateCopy(editor, context, c, kChooseStorage));
  }
  editor.Finish();
  return OkStatus();
}

}  // namespace aicf
