#include "compiler/passes/lowered/fuse.h"
#include "compiler/passes/lowered/passes.h"

namespace aicf {
namespace {

void RecordPair(PassContext& context, const ir::LoweredStep& producer,
                const ir::LoweredStep& consumer, const PairCosts& costs) {
  Decision d =
      context.About(DecisionKind::kEpilogue,
                    schema::Subject::Edge(producer.sources, consumer.sources), "pair-halves");
  d.choice = StrCat("epilogue of ", abi::FamilyName(producer.problem.family),
                    ", of both halves of its columns");
  d.cost_us = costs.one_us;
  d.Because(Reason::kRule, RegisterReason(producer));
  d.alternatives = {{std::string(kSeparate), "", costs.two_us}};
  context.Record(std::move(d));
}

}  // namespace

Status PairHalves(ir::Lowered& lowered, PassContext& context) {
  return FusePairs(lowered, context, {&ReadsInHalves, &TryHalves, &RecordPair});
}

}  // namespace aicf
