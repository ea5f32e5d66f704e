#include "compiler/passes/lowered/fuse.h"
#include "compiler/passes/lowered/passes.h"

namespace aicf {
namespace {

void RecordNorm(PassContext& context, const ir::LoweredStep& producer,
                const ir::LoweredStep& consumer, const PairCosts& costs) {
  Decision d =
      context.About(DecisionKind::kPrologue,
                    schema::Subject::Edge(producer.sources, consumer.sources), "norm-into-product");
  d.choice = "rows normalised as gemm reads them";
  d.cost_us = costs.one_us;
  d.Because(Reason::kPredicted,
            "every block of the product normalises the rows for itself, which takes less time than "
            "a step of its own");
  d.alternatives = {{std::string(kSeparate), "", costs.two_us}};
  context.Record(std::move(d));
}

}  // namespace

// Why an edge was left apart is for explain-separate to say, which asks the same conditions.
Status NormIntoProduct(ir::Lowered& lowered, PassContext& context) {
  ir::StepEditor editor(lowered);
  for (int c = 0; c < editor.size(); ++c) {
    if (!editor.alive(c)) continue;
    for (int p : ProducersOf(editor, c)) {
      if (!MultipliesNormalized(editor.step(p), editor.step(c))) continue;
      PairCosts costs;
      Fusion fused = TryRowNorm(editor, context, p, c, &costs);
      if (!fused.ok()) continue;
      RecordNorm(context, editor.step(p), editor.step(c), costs);
      editor.Replace(c, std::move(fused.step));
      editor.Erase(p);
      break;
    }
  }
  editor.Finish();
  return OkStatus();
}

}  // namespace aicf
