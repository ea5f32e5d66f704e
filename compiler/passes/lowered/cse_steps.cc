#include <algorithm>
#include <map>

#include "compiler/ir/views.h"
#include "compiler/passes/lowered/fuse.h"
#include "compiler/passes/lowered/passes.h"

namespace aicf {
namespace {

// What a step computes, whatever layout it writes: outputs count by dtype and shape alone.
std::string KeyOf(const ir::StepEditor& editor, int s) {
  const ir::LoweredStep& step = editor.step(s);
  abi::Problem p = step.problem;
  for (abi::View& v : p.outputs) v = abi::DenseView(v.dtype, v.shape);
  std::string key = abi::ToString(p);
  for (ir::BufferId b : step.inputs) {
    key += StrCat(" %", b);
    if (editor.buffer(b).role != schema::Role::kCarried) continue;
    // A carried buffer changes. Two steps read the same value only where the same writes came
    // before them.
    const auto& writers = editor.writers(b);
    key += StrCat("@", std::ranges::count_if(writers, [&](int w) { return w < s; }));
  }
  // A step runs as often as its loop, and only one that runs equally often can stand in for it.
  key += StrCat(" loop ", step.loop);
  // A step that is skipped cannot stand in for one that is not.
  for (const schema::Guard& g : step.guards)
    key += StrCat(g.expected ? " if %" : " unless %", g.buffer);
  return key;
}

// Whether each output is a temporary that this step alone fills.
bool OwnsOutputs(const ir::StepEditor& editor, int s) {
  const ir::LoweredStep& step = editor.step(s);
  for (size_t k = 0; k < step.outputs.size(); ++k) {
    const ir::LoweredBuffer& b = editor.buffer(step.outputs[k]);
    const int64_t count = ElementCount(b.shape).value_or(0);
    if (editor.OnlyWriter(step.outputs[k]) != s ||
        !ir::CoversWhole(step.problem.outputs[k], count)) {
      return false;
    }
  }
  return true;
}

// reader with every view of `later`'s results turned into one of `earlier`'s; nullopt when a view
// has no counterpart in the other layout.
std::optional<ir::LoweredStep> Redirected(ir::LoweredStep reader, const ir::LoweredStep& later,
                                          const ir::LoweredStep& earlier) {
  for (size_t i = 0; i < reader.inputs.size(); ++i) {
    for (size_t k = 0; k < later.outputs.size(); ++k) {
      if (reader.inputs[i] != later.outputs[k]) continue;
      const auto view =
          ir::Remap(reader.problem.inputs[i], later.problem.outputs[k], earlier.problem.outputs[k]);
      if (!view) return std::nullopt;
      reader.inputs[i] = earlier.outputs[k];
      reader.problem.inputs[i] = *view;
      break;
    }
  }
  return reader;
}

bool Merge(ir::StepEditor& editor, int later, int earlier) {
  const ir::LoweredStep gone = editor.step(later);
  std::map<int, ir::LoweredStep> changed;
  for (ir::BufferId b : gone.outputs) {
    if (editor.buffer(b).role != schema::Role::kTemp) return false;
    for (int r : editor.readers(b)) {
      auto step = Redirected(editor.step(r), gone, editor.step(earlier));
      if (!step) return false;
      changed[r] = std::move(*step);
    }
  }
  for (auto& [r, step] : changed) editor.Replace(r, std::move(step));
  editor.Erase(later);
  return true;
}

}  // namespace

Status CseSteps(ir::Lowered& lowered, PassContext& context) {
  ir::StepEditor editor(lowered);
  std::map<std::string, int> known;
  for (int s = 0; s < editor.size(); ++s) {
    if (!OwnsOutputs(editor, s)) continue;
    const auto [first, inserted] = known.try_emplace(KeyOf(editor, s), s);
    if (inserted) continue;
    schema::Subject subject = SubjectOf(editor.step(s));
    if (!Merge(editor, s, first->second)) continue;
    Decision d = context.About(DecisionKind::kFusion, std::move(subject), "cse-steps");
    d.choice = StrCat("is ", NamesOf(editor.step(first->second)));
    d.Because(Reason::kRule, "an earlier step computes the same from the same operands");
    context.Record(std::move(d));
  }
  editor.Finish();
  return OkStatus();
}

}  // namespace aicf
