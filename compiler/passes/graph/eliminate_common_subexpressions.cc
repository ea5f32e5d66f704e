#include <unordered_map>

#include "base/hash.h"
#include "base/scanner.h"
#include "compiler/ir/graph_text.h"
#include "compiler/ir/loop_nodes.h"
#include "compiler/passes/graph/passes.h"
#include "compiler/passes/graph/rewrite.h"

namespace aicf {
namespace {

bool SameConstant(const ir::Tensor& a, const ir::Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::ranges::equal(a.bytes(), b.bytes());
}

// For each value, by id, the first constant that is equal to it; for other values their own id. The
// bytes are compared, so that a collision of hashes merges nothing.
std::vector<ir::ValueId> FirstEqualConstants(const ir::Graph& graph) {
  std::unordered_map<std::string, ir::ValueId> first;
  std::vector<ir::ValueId> out(graph.values.size());
  for (size_t v = 0; v < graph.values.size(); ++v) {
    out[v] = static_cast<ir::ValueId>(v);
    const ir::Tensor& t = graph.values[v].constant;
    if (!t.has_data()) continue;
    const std::string key =
        StrCat(DTypeName(t.dtype()), ToString(t.shape()), ToHex(HashBytes(t.bytes())));
    const auto [it, added] = first.emplace(key, static_cast<ir::ValueId>(v));
    if (!added && SameConstant(graph.values[it->second].constant, t)) out[v] = it->second;
  }
  return out;
}

// Nodes with equal keys have equal results. The key says which outputs are absent, since that
// changes what a node computes, and in which loop the node is, since nothing outside a loop may use
// its values.
std::string KeyOf(const ir::Node& node, int64_t loop) {
  std::string key = StrCat(loop, node.op, ir::ToText(node.attrs), "(");
  for (ir::ValueId v : node.inputs) key += StrCat(v, ",");
  key += ")";
  for (ir::ValueId v : node.outputs) key += v == ir::kNoValue ? '_' : '%';
  return key;
}

bool CanForward(const Forwarding& forward, const ir::Node& node) {
  for (ir::ValueId v : node.outputs) {
    if (v != ir::kNoValue && forward.IsOutput(v)) return false;
  }
  return true;
}

}  // namespace

Status EliminateCommonSubexpressions(ir::Graph& graph, PassContext& context) {
  const std::vector<ir::ValueId> constant = FirstEqualConstants(graph);
  const std::vector<int64_t> loops = ir::LoopIds(graph);
  Forwarding forward(graph);
  std::unordered_map<std::string, size_t> seen;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    ir::Node& node = graph.nodes[n];
    for (ir::ValueId& v : node.inputs) {
      v = forward.Resolve(v);
      if (v != ir::kNoValue) v = constant[v];
    }
    const auto [it, added] = seen.emplace(KeyOf(node, loops[n]), n);
    if (added) continue;
    const ir::Node& first = graph.nodes[it->second];
    // Two outputs of the model that are equal stay two values.
    if (!CanForward(forward, node)) continue;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == ir::kNoValue) continue;
      forward.Forward(static_cast<int>(n), node.outputs[i], first.outputs[i]);
    }
    RecordRewrite(context, "eliminate-common-subexpressions", DecisionKind::kFold, About(node),
                  StrCat("result of ", Quote(first.name)),
                  "equal ops on equal inputs give equal results");
  }
  forward.Apply();
  return OkStatus();
}

}  // namespace aicf
