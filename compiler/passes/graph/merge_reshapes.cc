#include <algorithm>

#include "base/scanner.h"
#include "compiler/passes/graph/passes.h"
#include "compiler/passes/graph/rewrite.h"

namespace aicf {
namespace {

bool IsReshape(const ir::Node& node) {
  constexpr std::string_view kOps[] = {"Flatten", "Reshape", "Squeeze", "Unsqueeze"};
  return std::ranges::find(kOps, node.op) != std::end(kOps);
}

}  // namespace

Status MergeReshapes(ir::Graph& graph, PassContext& context) {
  const std::vector<int> producer = ir::ProducerOf(graph);
  ValueMaker make(graph);
  Forwarding forward(graph);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    ir::Node& node = graph.nodes[n];
    if (!IsReshape(node)) continue;
    const int p = producer[node.inputs[0]];
    if (p < 0 || !IsReshape(graph.nodes[p])) continue;
    const ir::Node& inner = graph.nodes[p];
    const schema::Subject subject =
        schema::Subject::Of(SubjectForm::kChain, {inner.name, node.name});
    const Dims from = graph.values[inner.inputs[0]].shape;
    const Dims to = graph.values[node.outputs[0]].shape;
    const std::string base = StrCat(graph.values[node.outputs[0]].name, ".shape");
    node.op = "Reshape";
    // The shape is written out: an extent of 0 in it means 0, and does not copy the input's extent.
    node.attrs = {{"allowzero", int64_t{1}}};
    node.inputs = {inner.inputs[0], make.Ints(base, to.span())};
    const bool cancelled =
        from == to && forward.Forward(static_cast<int>(n), node.outputs[0], node.inputs[0]);
    RecordRewrite(context, "merge-reshapes", DecisionKind::kLayout, subject,
                  cancelled ? "removed" : StrCat("one Reshape to ", ToString(to)),
                  "only the last shape of a chain is seen");
  }
  forward.Apply();
  return OkStatus();
}

}  // namespace aicf
