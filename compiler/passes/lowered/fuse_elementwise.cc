#include <algorithm>

#include "compiler/ir/views.h"
#include "compiler/passes/lowered/fuse.h"
#include "compiler/passes/lowered/passes.h"
#include "compiler/passes/storage/sensitive.h"

namespace aicf {
namespace {

constexpr std::string_view kFuseElementwise = "fuse-elementwise";

// Expressions up to this cost are computed again by every reader rather than stored and loaded.
constexpr double kCheapFlops = 8;

bool IsLarge(const abi::View& operand, const abi::View& result) {
  return ir::DistinctElements(operand) * 4 > abi::ElementsOf(result);
}

// Whether computing the step again in each reader is cheap and costs no more memory traffic than
// reading the stored result: at most one operand is large, and it is no wider than the result.
bool IsCheap(const ir::LoweredStep& step) {
  const abi::View& out = step.problem.outputs[0];
  if (abi::Flops(step.problem.epilogue) > kCheapFlops) return false;
  int large = 0;
  for (const abi::View& v : step.problem.inputs) {
    if (!IsLarge(v, out)) continue;
    ++large;
    if (DTypeBytes(v.dtype) > DTypeBytes(out.dtype)) return false;
  }
  return large <= 1;
}

// Whether an operand comes from a base (a step with an epilogue) that makes it for step `s` alone.
// As part of that base's epilogue, step `s` saves more than it would in its readers.
bool BelongsToBase(const ir::StepEditor& editor, int s) {
  for (ir::BufferId b : editor.step(s).inputs) {
    const int writer = editor.OnlyWriter(b);
    if (writer >= 0 && HasEpilogue(editor.step(writer)) && editor.OnlyReader(b) == s) return true;
  }
  return false;
}

// A step that quantises a base's result belongs to that base, which then stores a quarter of the
// bytes. If it were first fused with what follows, such as the addition of another branch, it might
// end up in the other branch's base, and its own base would store wide sums to be read again.
bool QuantisesBase(const ir::StepEditor& editor, int s) {
  const abi::Problem& p = editor.step(s).problem;
  if (DTypeBytes(p.outputs[0].dtype) > 1 || !BelongsToBase(editor, s)) return false;
  return std::ranges::any_of(p.inputs, [&](const abi::View& v) {
    return DTypeBytes(v.dtype) == 4 && IsLarge(v, p.outputs[0]);
  });
}

// Whether step p multiplies sums of float8 codes by their scales for step c, which also reads
// something else of that size. Where two branches are added, each product shall scale its own
// sums: otherwise one of them would store sums of codes, which 16 bits do not hold.
bool ScalesForJoin(const ir::StepEditor& editor, int p, int c) {
  const ir::LoweredStep& reader = editor.step(c);
  int large = 0;
  for (const abi::View& v : reader.problem.inputs) large += IsLarge(v, reader.problem.outputs[0]);
  if (large < 2) return false;
  return std::ranges::any_of(editor.step(p).inputs, [&](ir::BufferId b) {
    const int writer = editor.OnlyWriter(b);
    return writer >= 0 && editor.OnlyReader(b) == p &&
           storage::MultipliesFloat8(editor.step(writer).problem);
  });
}

// Inlines a cheap step with several readers, all elementwise, into each of them.
void Duplicate(ir::StepEditor& editor, PassContext& context, int p) {
  const ir::LoweredStep producer = editor.step(p);
  const std::vector<int> readers = editor.readers(producer.outputs[0]);
  if (readers.size() < 2 || !IsCheap(producer) || BelongsToBase(editor, p)) return;
  std::vector<ir::LoweredStep> fused;
  for (int reader : readers) {
    if (!IsElementwise(editor.step(reader)) || !CheckProducer(editor, context, p, reader).empty()) {
      return;
    }
    Fusion f = InlineProducer(producer, editor.step(reader));
    if (!f.ok()) return;
    fused.push_back(std::move(f.step));
  }
  for (size_t i = 0; i < readers.size(); ++i) {
    RecordFusion(
        context, DecisionKind::kFusion, producer, editor.step(readers[i]),
        "computed in each reader",
        StrCat("recomputing reads no more than loading the result; ", readers.size(), " readers"),
        kFuseElementwise);
    editor.Replace(readers[i], std::move(fused[i]));
  }
  editor.Erase(p);
}

// Pulls producers into step c until no condition allows another.
void Absorb(ir::StepEditor& editor, PassContext& context, int c) {
  for (bool changed = true; changed;) {
    changed = false;
    for (int p : ProducersOf(editor, c)) {
      if (!IsElementwise(editor.step(p)) || QuantisesBase(editor, p)) continue;
      if (ScalesForJoin(editor, p, c)) continue;
      Fusion fused = TryElementwise(editor, context, p, c);
      if (!fused.ok()) continue;
      RecordFusion(context, DecisionKind::kFusion, editor.step(p), editor.step(c),
                   "one elementwise step", RegisterReason(editor.step(p)), kFuseElementwise);
      editor.Replace(c, std::move(fused.step));
      editor.Erase(p);
      changed = true;
      break;
    }
  }
}

}  // namespace

Status FuseElementwise(ir::Lowered& lowered, PassContext& context) {
  ir::StepEditor editor(lowered);
  for (int s = 0; s < editor.size(); ++s) {
    if (editor.alive(s) && IsElementwise(editor.step(s))) Duplicate(editor, context, s);
  }
  for (int s = 0; s < editor.size(); ++s) {
    if (editor.alive(s) && IsElementwise(editor.step(s))) Absorb(editor, context, s);
  }
  editor.Finish();
  return OkStatus();
}

}  // namespace aicf
