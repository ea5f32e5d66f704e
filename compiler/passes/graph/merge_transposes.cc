#include "base/scanner.h"
#include "compiler/ir/infer/infer.h"
#include "compiler/passes/graph/passes.h"
#include "compiler/passes/graph/rewrite.h"

namespace aicf {
namespace {

// Axis i of the outer result is axis inner[outer[i]] of the inner operand.
std::vector<int64_t> Compose(const Dims& inner, const Dims& outer) {
  std::vector<int64_t> perm;
  for (int64_t axis : outer) perm.push_back(inner[static_cast<int>(axis)]);
  return perm;
}

bool IsIdentity(const std::vector<int64_t>& perm) {
  for (size_t i = 0; i < perm.size(); ++i) {
    if (perm[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

}  // namespace

Status MergeTransposes(ir::Graph& graph, PassContext& context) {
  const std::vector<int> producer = ir::ProducerOf(graph);
  Forwarding forward(graph);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    ir::Node& node = graph.nodes[n];
    if (node.op != "Transpose") continue;
    const int p = producer[node.inputs[0]];
    if (p < 0 || graph.nodes[p].op != "Transpose") continue;
    const ir::Node& inner = graph.nodes[p];
    AICF_ASSIGN_OR_RETURN(const Dims first, ir::ResolvePerm(graph, inner));
    AICF_ASSIGN_OR_RETURN(const Dims second, ir::ResolvePerm(graph, node));
    const std::vector<int64_t> perm = Compose(first, second);
    const schema::Subject subject =
        schema::Subject::Of(SubjectForm::kChain, {inner.name, node.name});
    // Walking in order, so the inner one has been merged with its own producer already.
    node.inputs[0] = inner.inputs[0];
    node.attrs["perm"] = perm;
    const bool cancelled =
        IsIdentity(perm) && forward.Forward(static_cast<int>(n), node.outputs[0], node.inputs[0]);
    RecordRewrite(
        context, "merge-transposes", DecisionKind::kLayout, subject,
        cancelled ? "removed" : StrCat("one Transpose ", ToListString(Dims(std::span(perm)))),
        "a permutation of a permutation is a permutation");
  }
  forward.Apply();
  return OkStatus();
}

}  // namespace aicf
