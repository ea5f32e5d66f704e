#include <algorithm>

#include "compiler/passes/lowered/fuse.h"
#include "compiler/passes/lowered/norm_moments.h"
#include "compiler/passes/lowered/passes.h"

namespace aicf {
namespace {

struct Why {
  DecisionKind kind;  // of the fusion that would have applied
  std::string refusal;
};

std::string OrDisabled(const Fusion& fusion, std::string_view pass) {
  return fusion.ok() ? StrCat("pass: ", pass, " did not run, or the edge became legal behind it")
                     : fusion.refusal;
}

Why Explain(const ir::StepEditor& editor, const PassContext& context, int p, int c) {
  const ir::LoweredStep& producer = editor.step(p);
  const ir::LoweredStep& consumer = editor.step(c);
  if (IsElementwise(consumer)) {
    if (StoresCodes(consumer) && editor.readers(producer.outputs[0]).size() > 1 &&
        (IsElementwise(producer) || HasEpilogue(producer))) {
      return {DecisionKind::kEpilogue,
              OrDisabled(TryCodes(editor, context, p, c), "quantize-in-producer")};
    }
    if (IsElementwise(producer)) {
      return {DecisionKind::kFusion,
              OrDisabled(TryElementwise(editor, context, p, c), "fuse-elementwise")};
    }
    if (ReadsInHalves(producer, consumer)) {
      return {DecisionKind::kEpilogue, OrDisabled(TryHalves(editor, context, p, c), "pair-halves")};
    }
    if (ConvertsCopied(producer, consumer)) {
      return {DecisionKind::kEpilogue,
              OrDisabled(TryConversion(editor, context, p, c), "convert-in-copy")};
    }
    if (HasEpilogue(producer)) {
      return {DecisionKind::kEpilogue,
              OrDisabled(TryEpilogue(editor, context, p, c), "fuse-epilogue")};
    }
  }
  if (IsElementwise(producer) && HasPrologue(consumer)) {
    return {DecisionKind::kPrologue,
            OrDisabled(TryPrologue(editor, context, p, c), "fuse-prologue")};
  }
  if (MultipliesNormalized(producer, consumer)) {
    return {DecisionKind::kPrologue,
            OrDisabled(TryRowNorm(editor, context, p, c), "norm-into-product")};
  }
  if (AttendsToAppended(producer, consumer)) {
    return {DecisionKind::kFusion,
            OrDisabled(TryAppending(editor, context, p, c), "append-into-attention")};
  }
  if (MultipliesNormOfRows(producer, consumer)) {
    return {DecisionKind::kPrologue,
            OrDisabled({NormMoments(editor, context, p).Check(), {}}, "moments-in-product")};
  }
  return {DecisionKind::kFusion,
          StrCat("family: ", abi::FamilyName(producer.problem.family), " into ",
                 abi::FamilyName(consumer.problem.family), " has no place to go")};
}

// Records why two steps are not one. Errors: a wish to have them fused.
Status Record(const ir::StepEditor& editor, PassContext& context, Occurrences& occurrences, int p,
              int c, Why why) {
  Decision d =
      context.About(why.kind, schema::Subject::Edge(editor.step(p).sources, editor.step(c).sources),
                    "explain-separate");
  d.choice = kSeparate;
  d.Because(Reason::kOnlyLegal).alternatives = {{std::string(kFused), std::move(why.refusal), -1}};
  AICF_RETURN_IF_ERROR(CheckRefusals(context.wishes, d, occurrences.Next(IdentityOf(d))));
  context.Record(std::move(d));
  return OkStatus();
}

}  // namespace

Status ExplainSeparate(ir::Lowered& lowered, PassContext& context) {
  const ir::StepEditor editor(lowered);
  Occurrences occurrences;
  for (int c = 0; c < editor.size(); ++c) {
    const std::vector<int> producers = ProducersOf(editor, c);
    for (int p : producers) {
      AICF_RETURN_IF_ERROR(
          Record(editor, context, occurrences, p, c, Explain(editor, context, p, c)));
    }
    if (c == 0 || std::ranges::find(producers, c - 1) != producers.end()) continue;
    AICF_RETURN_IF_ERROR(
        Record(editor, context, occurrences, c - 1, c,
               {DecisionKind::kFusion, "dataflow: no value goes from one to the other"}));
  }
  return OkStatus();
}

}  // namespace aicf
