#include "compiler/passes/lowered/fuse.h"

#include <algorithm>

namespace aicf {

std::string NamesOf(const ir::LoweredStep& step) { return schema::ToString(step.sources); }

schema::Subject SubjectOf(const ir::LoweredStep& step) {
  return schema::Subject::Of(SubjectForm::kSources, step.sources);
}

bool IsElementwise(const ir::LoweredStep& step) {
  return step.problem.family == abi::Family::kElementwise;
}

bool HasEpilogue(const ir::LoweredStep& step) {
  const abi::Family f = step.problem.family;
  // Copies get theirs last, when it is settled which of them stay (convert-in-copy).
  return f != abi::Family::kElementwise && f != abi::Family::kCopy && abi::HasEpilogue(f);
}

bool HasPrologue(const ir::LoweredStep& step) { return abi::HasPrologue(step.problem.family); }

namespace {

bool Named(const PassContext& context, const ir::LoweredStep& step) {
  return std::any_of(step.sources.begin(), step.sources.end(),
                     [&](const std::string& s) { return context.no_fusion.contains(s); });
}

}  // namespace

std::string CheckTogether(const ir::StepEditor& editor, const PassContext& context, int producer,
                          int consumer) {
  const ir::LoweredStep& p = editor.step(producer);
  if (Named(context, p) || Named(context, editor.step(consumer))) {
    return "policy: --disable-fusion names a node of this edge";
  }
  const Wish* apart =
      context.wishes == nullptr
          ? nullptr
          : context.wishes->Separate(context.entry, p.sources, editor.step(consumer).sources);
  if (apart != nullptr) return StrCat("policy: ", apart->origin, " keeps them apart");
  if (p.guards != editor.step(consumer).guards) {
    return "guard: one of them is skipped where the other runs";
  }
  if (p.loop != editor.step(consumer).loop) {
    return "loop: one of them repeats where the other does not";
  }
  for (ir::BufferId b : p.inputs) {
    if (!editor.ChangesBetween(b, producer, consumer)) continue;
    return StrCat("loop: '", editor.buffer(b).name, "' changes between them");
  }
  return "";
}

std::string CheckProducer(const ir::StepEditor& editor, const PassContext& context, int producer,
                          int consumer) {
  std::string refusal = CheckTogether(editor, context, producer, consumer);
  if (!refusal.empty()) return refusal;
  const ir::LoweredStep& p = editor.step(producer);
  if (p.outputs.size() != 1) return StrCat("outputs: the producer has ", p.outputs.size());
  const ir::LoweredBuffer& buffer = editor.buffer(p.outputs[0]);
  if (buffer.role != schema::Role::kTemp) {
    return StrCat("graph-output: '", buffer.name, "' must exist for the caller");
  }
  // These dtypes are only stored, never computed with. A value that stays in a register would not
  // be rounded to them.
  if (IsFloat(buffer.dtype) && IsStorageOnly(buffer.dtype)) {
    return StrCat("rounding: '", buffer.name, "' must be rounded to ", DTypeName(buffer.dtype));
  }
  // A buffer with a single writer is whole: in a verified program that step writes every element.
  if (editor.OnlyWriter(p.outputs[0]) != producer) {
    return StrCat("whole: '", buffer.name, "' is written by several steps");
  }
  return "";
}

std::string CheckSingleUse(const ir::StepEditor& editor, int producer, int consumer) {
  const ir::BufferId b = editor.step(producer).outputs[0];
  for (int reader : editor.readers(b)) {
    if (reader == consumer) continue;
    return StrCat("single-use: '", editor.buffer(b).name, "' is also read by ",
                  NamesOf(editor.step(reader)));
  }
  return "";
}

std::vector<int> ProducersOf(const ir::StepEditor& editor, int s) {
  std::vector<int> out;
  for (ir::BufferId b : editor.step(s).inputs) {
    for (int w : editor.writers(b)) {
      if (std::find(out.begin(), out.end(), w) == out.end()) out.push_back(w);
    }
  }
  return out;
}

std::string RegisterReason(const ir::LoweredStep& producer) {
  const DType stored = producer.problem.outputs[0].dtype;
  std::string reason = "the value between them stays in a register";
  if (abi::ComputeDType(stored) != stored) {
    reason += StrCat(", unrounded: f32 instead of ", DTypeName(stored));
  }
  return reason;
}

void RecordFusion(PassContext& context, DecisionKind kind, const ir::LoweredStep& producer,
                  const ir::LoweredStep& consumer, std::string_view choice, std::string rule,
                  std::string_view pass) {
  Decision d = context.About(kind, schema::Subject::Edge(producer.sources, consumer.sources), pass);
  d.choice = choice;
  d.Because(Reason::kRule, std::move(rule)).alternatives = {{std::string(kSeparate), "", -1}};
  context.Record(std::move(d));
}

Status FusePairs(ir::Lowered& lowered, PassContext& context, const PairFusion& kind) {
  ir::StepEditor editor(lowered);
  for (int c = 0; c < editor.size(); ++c) {
    if (!editor.alive(c)) continue;
    for (int p : ProducersOf(editor, c)) {
      if (!kind.matches(editor.step(p), editor.step(c))) continue;
      PairCosts costs;
      Fusion fused = kind.attempt(editor, context, p, c, &costs);
      if (!fused.ok()) continue;
      kind.record(context, editor.step(p), editor.step(c), costs);
      editor.Replace(c, std::move(fused.step));
      editor.Erase(p);
      break;
    }
  }
  editor.Finish();
  return OkStatus();
}

}  // namespace aicf
