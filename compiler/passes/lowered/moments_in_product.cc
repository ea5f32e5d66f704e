#include "compiler/passes/lowered/norm_moments.h"
#include "compiler/passes/lowered/passes.h"

namespace aicf {
namespace {

void RecordParts(PassContext& context, const ir::LoweredStep& producer, const ir::LoweredStep& norm,
                 const NormMoments& moments) {
  Decision d =
      context.About(DecisionKind::kEpilogue, schema::Subject::Edge(producer.sources, norm.sources),
                    "moments-in-product");
  d.cost_us = moments.costs().one_us;
  d.choice = "begun in the epilogue of gemm";
  d.Because(Reason::kPredicted,
            moments.HasGainedRows()
                ? "the product that makes the rows stores them a second time, multiplied with the "
                  "gain, and mean and deviation of their parts, from registers"
                : "the product that makes the rows stores mean and deviation of their parts, from "
                  "registers");
  d.alternatives = {{std::string(kSeparate), "", moments.costs().two_us}};
  context.Record(std::move(d));
}

// How a product finishes the norm that it reads.
std::string HowFinished(const NormMoments& moments) {
  if (moments.HasGainedRows())
    return "the product multiplies the rows with the gain as they were stored, and makes their "
           "scale of the moments of parts";
  std::string how = "the product multiplies the rows as they are and ";
  how += moments.producer() >= 0 ? "makes their mean and scale of the moments of parts"
                                 : "sums up their mean and scale meanwhile";
  if (moments.HasGainedWeights()) how += "; the gain is in its weights";
  return how;
}

void Record(PassContext& context, const ir::LoweredStep& norm, const ir::LoweredStep& reader,
            bool product, const NormMoments& moments) {
  Decision d =
      context.About(product ? DecisionKind::kPrologue : DecisionKind::kEpilogue,
                    schema::Subject::Edge(norm.sources, reader.sources), "moments-in-product");
  d.cost_us = moments.costs().one_us;
  if (product) {
    d.choice = StrCat("finished in the epilogue of ", abi::FamilyName(reader.problem.family));
    d.Because(Reason::kPredicted, HowFinished(moments));
  } else {
    d.choice = StrCat("computed again in ", abi::FamilyName(reader.problem.family));
    d.Because(Reason::kPredicted,
              "the product before it stores mean and scale of every row, and nobody needs the norm "
              "itself");
  }
  d.alternatives = {{std::string(kSeparate), "", moments.costs().two_us}};
  context.Record(std::move(d));
}

}  // namespace

Status MomentsInProduct(ir::Lowered& lowered, PassContext& context) {
  ir::StepEditor editor(lowered);
  for (int s = 0; s < editor.size(); ++s) {
    if (!editor.alive(s) || !IsNormOfRows(editor.step(s))) continue;
    NormMoments moments(editor, context, s);
    if (!moments.Check().empty()) continue;
    const ir::LoweredStep norm = editor.step(s);
    const int producer = moments.producer();
    if (producer >= 0) RecordParts(context, editor.step(producer), norm, moments);
    for (const int reader : moments.products())
      Record(context, norm, editor.step(reader), true, moments);
    for (const int reader : moments.others())
      Record(context, norm, editor.step(reader), false, moments);
    moments.Apply(editor);
  }
  editor.Finish();
  return OkStatus();
}

}  // namespace aicf
