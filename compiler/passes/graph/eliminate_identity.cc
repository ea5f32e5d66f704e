#include <algorithm>

#include "base/scanner.h"
#include "compiler/ir/infer/infer.h"
#include "compiler/passes/graph/passes.h"
#include "compiler/passes/graph/rewrite.h"

namespace aicf {
namespace {

using ir::Graph;
using ir::Node;

bool Always(const Graph&, const Node&) { return true; }

bool IsFullSlice(const Graph& graph, const Node& node) {
  const auto spec = ir::ResolveSlice(graph, node);
  if (!spec.ok()) return false;
  const Dims& in = graph.values[node.inputs[0]].shape;
  for (int i = 0; i < in.rank(); ++i) {
    if (in[i] > 1 && (spec->starts[i] != 0 || spec->steps[i] != 1)) return false;
  }
  return true;
}

bool IsZeroPad(const Graph& graph, const Node& node) {
  const auto spec = ir::ResolvePad(graph, node);
  return spec.ok() && spec->begin == Dims::Filled(spec->begin.rank(), 0) &&
         spec->end == spec->begin;
}

bool IsIdentityPerm(const Graph& graph, const Node& node) {
  const auto perm = ir::ResolvePerm(graph, node);
  return perm.ok() && std::ranges::is_sorted(*perm);
}

bool HasOneInput(const Graph&, const Node& node) { return node.inputs.size() == 1; }
bool HasOneOutput(const Graph&, const Node& node) { return node.outputs.size() == 1; }

// Every op that may do nothing, with the condition for that. In addition, the output must have the
// dtype and shape of the input.
struct Identity {
  std::string_view op;
  bool (*does_nothing)(const Graph&, const Node&);
};
constexpr Identity kIdentities[] = {
    {"Cast", Always},       {"Concat", HasOneInput},
    {"Expand", Always},     {"Flatten", Always},
    {"Identity", Always},   {"Max", HasOneInput},
    {"Mean", HasOneInput},  {"Min", HasOneInput},
    {"Pad", IsZeroPad},     {"Reshape", Always},
    {"Slice", IsFullSlice}, {"Split", HasOneOutput},
    {"Squeeze", Always},    {"Sum", HasOneInput},
    {"Tile", Always},       {"Transpose", IsIdentityPerm},
    {"Unsqueeze", Always},
};

bool DoesNothing(const Graph& graph, const Node& node) {
  const auto row = std::ranges::find(kIdentities, node.op, &Identity::op);
  if (row == std::end(kIdentities) || node.outputs[0] == ir::kNoValue) return false;
  const ir::Value& in = graph.values[node.inputs[0]];
  const ir::Value& out = graph.values[node.outputs[0]];
  return in.dtype == out.dtype && in.shape == out.shape && row->does_nothing(graph, node);
}

}  // namespace

Status EliminateIdentity(ir::Graph& graph, PassContext& context) {
  Forwarding forward(graph);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (!DoesNothing(graph, node)) continue;
    if (!forward.Forward(static_cast<int>(n), node.outputs[0], node.inputs[0])) continue;
    RecordRewrite(context, "eliminate-identity", DecisionKind::kCopy, About(node), "removed",
                  "its output equals its input, element for element");
  }
  forward.Apply();
  return OkStatus();
}

}  // namespace aicf
