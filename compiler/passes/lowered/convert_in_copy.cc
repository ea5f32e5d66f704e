#include "compiler/passes/lowered/fuse.h"
#include "compiler/passes/lowered/kernel_guard.h"
#include "compiler/passes/lowered/passes.h"

namespace aicf {

bool ConvertsCopied(const ir::LoweredStep& producer, const ir::LoweredStep& consumer) {
  return producer.problem.family == abi::Family::kCopy && IsElementwise(consumer) &&
         consumer.inputs.size() == 1 && !producer.inputs.empty();
}

Fusion TryConversion(const ir::StepEditor& editor, const PassContext& context, int producer,
                     int consumer, PairCosts* costs) {
  const ir::LoweredStep &p = editor.step(producer), &c = editor.step(consumer);
  Fusion fused = TryEpilogue(editor, context, producer, consumer);
  if (fused.ok()) fused.refusal = RefuseSlower(p, c, fused.step, context.device, costs);
  return fused;
}

namespace {

void RecordConversion(PassContext& context, const ir::LoweredStep& producer,
                      const ir::LoweredStep& consumer, const PairCosts& costs) {
  Decision d =
      context.About(DecisionKind::kEpilogue,
                    schema::Subject::Edge(producer.sources, consumer.sources), "convert-in-copy");
  d.choice = "epilogue of copy";
  d.cost_us = costs.one_us;
  d.Because(Reason::kPredicted, "what is copied is stored and read once less");
  d.alternatives = {{std::string(kSeparate), "", costs.two_us}};
  context.Record(std::move(d));
  Decision copy = context.About(
      DecisionKind::kCopy,
      schema::Subject::Of(SubjectForm::kSources, JoinedSources(producer.sources, consumer.sources)),
      "convert-in-copy");
  copy.choice = "kept";
  copy.Because(Reason::kRule, "it converts what it copies").alternatives = {
      {"removed", "view: its results are not what it copies", -1}};
  context.Record(std::move(copy));
}

}  // namespace

// Only GPUs have kernels that convert what they copy, and these are not the fastest that copy. So
// both ways are predicted, and the two steps are joined where one is faster.
Status ConvertInCopy(ir::Lowered& lowered, PassContext& context) {
  return FusePairs(lowered, context, {ConvertsCopied, TryConversion, RecordConversion});
}

}  // namespace aicf
