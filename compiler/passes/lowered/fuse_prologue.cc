#include "compiler/passes/lowered/fuse.h"
#include "compiler/passes/lowered/passes.h"

namespace aicf {
namespace {

bool AbsorbOne(ir::StepEditor& editor, PassContext& context, int c) {
  for (int p : ProducersOf(editor, c)) {
    if (!IsElementwise(editor.step(p))) continue;
    Fusion fused = TryPrologue(editor, context, p, c);
    if (!fused.ok()) continue;
    RecordFusion(context, DecisionKind::kPrologue, editor.step(p), editor.step(c),
                 StrCat("prologue of ", abi::FamilyName(editor.step(c).problem.family)),
                 RegisterReason(editor.step(p)), "fuse-prologue");
    editor.Replace(c, std::move(fused.step));
    editor.Erase(p);
    return true;
  }
  return false;
}

}  // namespace

Status FusePrologue(ir::Lowered& lowered, PassContext& context) {
  ir::StepEditor editor(lowered);
  for (int c = 0; c < editor.size(); ++c) {
    if (!editor.alive(c) || !HasPrologue(editor.step(c))) continue;
    while (AbsorbOne(editor, context, c)) {
    }
  }
  editor.Finish();
  return OkStatus();
}

}  // namespace aicf
