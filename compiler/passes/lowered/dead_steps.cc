#include "compiler/passes/lowered/fuse.h"
#include "compiler/passes/lowered/passes.h"

namespace aicf {

Status DeadSteps(ir::Lowered& lowered, PassContext& context) {
  ir::StepEditor editor(lowered);
  for (int s = editor.size() - 1; s >= 0; --s) {
    bool needed = false;
    for (ir::BufferId b : editor.step(s).outputs) {
      needed |= editor.buffer(b).role == schema::Role::kOutput || !editor.readers(b).empty() ||
                editor.IsCondition(b);
    }
    if (needed) continue;
    Decision d = context.About(DecisionKind::kFusion, SubjectOf(editor.step(s)), "dead-steps");
    d.choice = "removed";
    context.Record(d.Because(Reason::kRule, "nothing reads its result"));
    editor.Erase(s);
  }
  editor.Finish();
  return OkStatus();
}

}  // namespace aicf
