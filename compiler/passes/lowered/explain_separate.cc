#include "compiler/passes/lowered/fuse.h"
#include "compiler/passes/lowered/passes.h"

namespace aicf {
namespace {

struct Why {
  std::string_view kind;  // of the fusion that would have applied
  std::string refusal;
};

std::string OrDisabled(const Fusion& fusion, std::string_view pass) {
  return fusion.ok() ? StrCat("pass: ", pass, " did not run") : fusion.refusal;
}

Why Explain(const ir::StepEditor& editor, const PassContext& context, int p, int c) {
  const ir::LoweredStep& producer = editor.step(p);
  const ir::LoweredStep& consumer = editor.step(c);
  if (IsElementwise(consumer)) {
    if (IsElementwise(producer)) {
      return {"fusion", OrDisabled(TryElementwise(editor, context, p, c), "fuse-elementwise")};
    }
    if (HasEpilogue(producer)) {
      return {"epilogue", OrDisabled(TryEpilogue(editor, context, p, c), "fuse-epilogue")};
    }
  }
  if (IsElementwise(producer) && HasPrologue(consumer)) {
    return {"prologue", OrDisabled(TryPrologue(editor, context, p, c), "fuse-prologue")};
  }
  return {"fusion", StrCat("family: ", abi::FamilyName(producer.problem.family), " into ",
                           abi::FamilyName(consumer.problem.family), " has no place to go")};
}

}  // namespace

Status ExplainSeparate(ir::Lowered& lowered, PassContext& context) {
  const ir::StepEditor editor(lowered);
  for (int c = 0; c < editor.size(); ++c) {
    for (int p : ProducersOf(editor, c)) {
      Why why = Explain(editor, context, p, c);
      context.decisions->Record({std::string(why.kind),
                                 EdgeName(editor.step(p), editor.step(c)),
                                 "separate",
                                 "only-legal",
                                 "explain-separate",
                                 -1,
                                 {{"fused", std::move(why.refusal), -1}}});
    }
  }
  return OkStatus();
}

}  // namespace aicf
