#include "compiler/passes/lowered/fuse.h"
#include "compiler/passes/lowered/passes.h"

namespace aicf {
namespace {

void RecordNorm(PassContext& context, const ir::LoweredStep& producer,
                const ir::LoweredStep& consumer, const PairCosts& costs) {
  Decision d =
      context.About(DecisionKind::kPrologue,
                    schema::Subject::Edge(producer.sources, consumer.sources), "norm-into-product");
  d.choice = StrCat("rows normalised as ", abi::FamilyName(consumer.problem.family), " reads them");
  d.cost_us = costs.one_us;
  d.Because(Reason::kPredicted,
            "every block of the product normalises the rows for itself, which takes less time than "
            "a step of its own");
  d.alternatives = {{std::string(kSeparate), "", costs.two_us}};
  context.Record(std::move(d));
}

}  // namespace

Status NormIntoProduct(ir::Lowered& lowered, PassContext& context) {
  return FusePairs(lowered, context, {&MultipliesNormalized, &TryRowNorm, &RecordNorm});
}

}  // namespace aicf
