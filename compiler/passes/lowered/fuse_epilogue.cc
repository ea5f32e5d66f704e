#include <algorithm>

#include "compiler/passes/lowered/fuse.h"
#include "compiler/passes/lowered/passes.h"

namespace aicf {

// Walks in order, so that a base accumulates one consumer after the other. A consumer with several
// bases among its operands goes to the latest: its other operands are ready by then.
Status FuseEpilogue(ir::Lowered& lowered, PassContext& context) {
  ir::StepEditor editor(lowered);
  for (int c = 0; c < editor.size(); ++c) {
    if (!editor.alive(c) || !IsElementwise(editor.step(c))) continue;
    std::vector<int> producers = ProducersOf(editor, c);
    std::sort(producers.rbegin(), producers.rend());
    for (int p : producers) {
      if (!HasEpilogue(editor.step(p))) continue;
      Fusion fused = TryEpilogue(editor, context, p, c);
      if (!fused.ok()) continue;
      RecordFusion(context, DecisionKind::kEpilogue, editor.step(p), editor.step(c),
                   StrCat("epilogue of ", abi::FamilyName(editor.step(p).problem.family)),
                   RegisterReason(editor.step(p)), "fuse-epilogue");
      editor.Replace(c, std::move(fused.step));
      editor.Erase(p);
      break;
    }
  }
  editor.Finish();
  return OkStatus();
}

}  // namespace aicf
