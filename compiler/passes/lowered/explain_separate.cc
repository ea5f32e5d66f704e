#include <algorithm>
#include <map>

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

// Asks what kept steps apart.
class Separations {
 public:
  Separations(const ir::StepEditor& editor, const PassContext& context)
      : editor_(editor), context_(context) {}

  /// Why a producer and its consumer are two steps.
  Why OfEdge(int p, int c);
  /// Why a step and the one before it, which makes none of its operands, are two.
  Why OfNeighbours(int c) const;

 private:
  std::string OfNorm(int p, int c);
  const std::string& OfMoments(int norm);

  const ir::StepEditor& editor_;
  const PassContext& context_;
  std::map<int, std::string> moments_;  ///< by norm: why products do not finish it
};

// A norm that a product multiplies could have become part of that product, or have disappeared
// between two products.
std::string Separations::OfNorm(int p, int c) {
  const std::string why = OrDisabled(TryRowNorm(editor_, context_, p, c), "norm-into-product");
  if (!MultipliesNormOfRows(editor_.step(p), editor_.step(c))) return why;
  const std::string& moments = OfMoments(p);
  return moments == why ? why : StrCat(why, "; between products: ", moments);
}

// Asked once for each norm, because it looks at all products that read the norm.
const std::string& Separations::OfMoments(int norm) {
  const auto [at, is_new] = moments_.try_emplace(norm);
  if (is_new) {
    NormMoments moments(editor_, context_, norm);
    at->second = OrDisabled({moments.Check(), {}}, "moments-in-product");
  }
  return at->second;
}

Why Separations::OfEdge(int p, int c) {
  const ir::LoweredStep& producer = editor_.step(p);
  const ir::LoweredStep& consumer = editor_.step(c);
  if (IsElementwise(consumer)) {
    if (StoresCodes(consumer) && editor_.readers(producer.outputs[0]).size() > 1 &&
        (IsElementwise(producer) || HasEpilogue(producer))) {
      return {DecisionKind::kEpilogue,
              OrDisabled(TryCodes(editor_, context_, p, c), "quantize-in-producer")};
    }
    if (IsElementwise(producer)) {
      return {DecisionKind::kFusion,
              OrDisabled(TryElementwise(editor_, context_, p, c), "fuse-elementwise")};
    }
    if (ReadsInHalves(producer, consumer)) {
      return {DecisionKind::kEpilogue,
              OrDisabled(TryHalves(editor_, context_, p, c), "pair-halves")};
    }
    if (ConvertsCopied(producer, consumer)) {
      return {DecisionKind::kEpilogue,
              OrDisabled(TryConversion(editor_, context_, p, c), "convert-in-copy")};
    }
    if (HasEpilogue(producer)) {
      return {DecisionKind::kEpilogue,
              OrDisabled(TryEpilogue(editor_, context_, p, c), "fuse-epilogue")};
    }
  }
  if (IsElementwise(producer) && HasPrologue(consumer)) {
    return {DecisionKind::kPrologue,
            OrDisabled(TryPrologue(editor_, context_, p, c), "fuse-prologue")};
  }
  if (MultipliesNormalized(producer, consumer)) {
    return {DecisionKind::kPrologue, OfNorm(p, c)};
  }
  if (AttendsToAppended(producer, consumer)) {
    return {DecisionKind::kFusion,
            OrDisabled(TryAppending(editor_, context_, p, c), "append-into-attention")};
  }
  if (MultipliesNormOfRows(producer, consumer)) {
    return {DecisionKind::kPrologue, OfMoments(p)};
  }
  return {DecisionKind::kFusion,
          StrCat("family: ", abi::FamilyName(producer.problem.family), " into ",
                 abi::FamilyName(consumer.problem.family), " has no place to go")};
}

Why Separations::OfNeighbours(int c) const {
  if (!CanBeHorizontal(editor_.step(c - 1), editor_.step(c), context_.device))
    return {DecisionKind::kFusion, "dataflow: no value goes from one to the other"};
  return {DecisionKind::kFusion,
          OrDisabled(TryHorizontal(editor_, context_, c - 1, c), "fuse-horizontal")};
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
  Separations separations(editor, context);
  Occurrences occurrences;
  for (int c = 0; c < editor.size(); ++c) {
    const std::vector<int> producers = ProducersOf(editor, c);
    for (int p : producers) {
      AICF_RETURN_IF_ERROR(Record(editor, context, occurrences, p, c, separations.OfEdge(p, c)));
    }
    if (c == 0 || std::ranges::find(producers, c - 1) != producers.end()) continue;
    AICF_RETURN_IF_ERROR(
        Record(editor, context, occurrences, c - 1, c, separations.OfNeighbours(c)));
  }
  return OkStatus();
}

}  // namespace aicf
