#include "compiler/passes/lowered/norm_moments.h"
#include "compiler/passes/lowered/passes.h"

namespace aicf {
namespace {

void Record(PassContext& context, const ir::LoweredStep& norm, const ir::LoweredStep& reader,
            bool product, const PairCosts& costs) {
  Decision d =
      context.About(product ? DecisionKind::kPrologue : DecisionKind::kEpilogue,
                    schema::Subject::Edge(norm.sources, reader.sources), "moments-in-product");
  d.cost_us = costs.one_us;
  if (product) {
    d.choice = StrCat("finished in the epilogue of ", abi::FamilyName(reader.problem.family));
    d.Because(Reason::kPredicted,
              "the product multiplies the rows as they are and sums up their mean and scale "
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
    for (const int reader : moments.products())
      Record(context, norm, editor.step(reader), true, moments.costs());
    for (const int reader : moments.others())
      Record(context, norm, editor.step(reader), false, moments.costs());
    moments.Apply(editor);
  }
  editor.Finish();
  return OkStatus();
}

}  // namespace aicf
