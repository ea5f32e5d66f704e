#include "compiler/passes/lowered/fuse.h"
#include "compiler/passes/lowered/passes.h"

namespace aicf {
namespace {

void RecordPair(PassContext& context, const ir::LoweredStep& producer,
                const ir::LoweredStep& consumer, const PairCosts& costs) {
  Decision d =
      context.About(DecisionKind::kEpilogue,
                    schema::Subject::Edge(producer.sources, consumer.sources), "pair-halves");
  d.choice = "epilogue of gemm, of both halves of its columns";
  d.cost_us = costs.one_us;
  d.Because(Reason::kRule, RegisterReason(producer));
  d.alternatives = {{std::string(kSeparate), "", costs.two_us}};
  context.Record(std::move(d));
}

}  // namespace

// Why an edge was left apart is for explain-separate to say, which asks the same conditions.
Status PairHalves(ir::Lowered& lowered, PassContext& context) {
  ir::StepEditor editor(lowered);
  for (int c = 0; c < editor.size(); ++c) {
    if (!editor.alive(c)) continue;
    for (int p : ProducersOf(editor, c)) {
      if (!ReadsInHalves(editor.step(p), editor.step(c))) continue;
      PairCosts costs;
      Fusion fused = TryHalves(editor, context, p, c, &costs);
      if (!fused.ok()) continue;
      RecordPair(context, editor.step(p), editor.step(c), costs);
      editor.Replace(c, std::move(fused.step));
      editor.Erase(p);
      break;
    }
  }
  editor.Finish();
  return OkStatus();
}

}  // namespace aicf
