#include "base/scanner.h"
#include "compiler/passes/graph/passes.h"
#include "compiler/passes/graph/rewrite.h"

namespace aicf {
namespace {

// Keeps the values in `used`, in order, and renumbers everything.
void CompactValues(ir::Graph& graph, const std::vector<bool>& used) {
  std::vector<ir::ValueId> renumbered(graph.values.size(), ir::kNoValue);
  std::vector<ir::Value> values;
  for (size_t v = 0; v < graph.values.size(); ++v) {
    if (!used[v]) continue;
    renumbered[v] = static_cast<ir::ValueId>(values.size());
    values.push_back(std::move(graph.values[v]));
  }
  graph.values = std::move(values);
  const auto renumber = [&](std::vector<ir::ValueId>& ids) {
    for (ir::ValueId& v : ids) v = v == ir::kNoValue ? v : renumbered[v];
  };
  for (ir::Node& node : graph.nodes) {
    renumber(node.inputs);
    renumber(node.outputs);
  }
  renumber(graph.inputs);
  renumber(graph.outputs);
}

}  // namespace

Status EliminateDeadCode(ir::Graph& graph, PassContext& context) {
  std::vector<bool> used(graph.values.size(), false);
  const auto use = [&](const std::vector<ir::ValueId>& ids) {
    for (ir::ValueId v : ids) {
      if (v != ir::kNoValue) used[v] = true;
    }
  };
  use(graph.outputs);
  std::vector<bool> live(graph.nodes.size(), false);
  for (size_t n = graph.nodes.size(); n-- > 0;) {
    const ir::Node& node = graph.nodes[n];
    for (ir::ValueId v : node.outputs) live[n] = live[n] || (v != ir::kNoValue && used[v]);
    if (live[n]) use(node.inputs);
  }
  std::vector<ir::Node> kept;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    ir::Node& node = graph.nodes[n];
    if (!live[n]) {
      RecordRewrite(context, "eliminate-dead-code", DecisionKind::kFold, About(node), "removed",
                    "no output of the model depends on it");
      continue;
    }
    use(node.outputs);
    kept.push_back(std::move(node));
  }
  graph.nodes = std::move(kept);
  use(graph.inputs);
  CompactValues(graph, used);
  return OkStatus();
}

}  // namespace aicf
