#include "compiler/passes/lowered/norm_moments.h"
#include "compiler/passes/lowered/passes.h"

namespace aicf {
namespace {

void RecordParts(PassContext& context, const ir::LoweredStep& producer, const ir::LoweredStep& norm,
                 const PairCosts& costs) {
  Decision d =
      context.About(DecisionKind::kEpilogue, schema::Subject::Edge(producer.sources, norm.sources),
                    "moments-in-product");
  d.cost_us = costs.one_us;
  d.choice = "begun in the epilogue of gemm";
  d.Because(Reason::kPredicted,
            "the product that makes the rows stores mean and deviation of their parts, from "
            "registers");
  d.alternatives = {{std::string(kSeparate), "", costs.two_us}};
  context.Record(std::move(d));
}

void Record(PassContext& context, const ir::LoweredStep& norm, const ir::LoweredStep& reader,
            bool product, bool parts, const PairCosts& costs) {
  Decision d =
      context.About(product ? DecisionKind::kPrologue : DecisionKind::kEpilogue,
                    schema::Subject::Edge(norm.sources, reader.sources), "moments-in-product");
  d.cost_us = costs.one_us;
  if (product) {
    d.choice = StrCat("finished in the epilogue of ", abi::FamilyName(reader.problem.family));
    d.Because(Reason::kPredicted,
              parts
                  ? "the product multiplies the rows as they are and makes their mean and scale of "
                    "the moments of parts; the gain is in its weights"
                  : "the product multiplies the rows as they are and sums up their mean and scale "
                    "meanwhile; the gain is in its weights");
  } else {
    d.choice = StrCat("computed again in ", abi::FamilyName(reader.problem.family));
    d.Because(Reason::kPredicted,
              "the product before it stores mean and scale of every row, and nobody needs the norm "
              "itself");
  }
  d.alternatives = {{std::string(kSeparate), "", costs.two_us}};
  context.Record(std::move(d));
}

}  // namespace

Status MomentsInProduct(ir::Lowered& lowered, PassContext& context) {
  ir::StepEditor editor(lowered);
  for (int s = 0; s < editor.size(); ++s) {
    if (!editor.alive(s) || !IsLayerNorm(editor.step(s))) continue;
    NormMoments moments(editor, context, s);
    if (!moments.Check().empty()) continue;
    const ir::LoweredStep norm = editor.step(s);
    const int producer = moments.producer();
    if (producer >= 0) RecordParts(context, editor.step(producer), norm, moments.costs());
    for (const int reader : moments.products())
      Record(context, norm, editor.step(reader), true, producer >= 0, moments.costs());
    for (const int reader : moments.others())
      Record(context, norm, editor.step(reader), false, producer >= 0, moments.costs());
    moments.Apply(editor);
  }
  editor.Finish();
  return OkStatus();
}

}  // namespace aicf
