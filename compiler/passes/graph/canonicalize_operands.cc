#include <algorithm>

#include "base/scanner.h"
#include "compiler/passes/graph/passes.h"
#include "compiler/passes/graph/rewrite.h"

namespace aicf {
namespace {

constexpr std::string_view kCommutative[] = {"Add", "And", "Equal", "Mul", "Or", "Xor"};

}  // namespace

Status CanonicalizeOperands(ir::Graph& graph, PassContext& context) {
  for (ir::Node& node : graph.nodes) {
    if (std::ranges::find(kCommutative, node.op) == std::end(kCommutative)) continue;
    const bool first = graph.values[node.inputs[0]].is_constant();
    const bool second = graph.values[node.inputs[1]].is_constant();
    if (!first || second) continue;
    std::swap(node.inputs[0], node.inputs[1]);
    RecordRewrite(context, "canonicalize-operands", DecisionKind::kFold, About(node),
                  "constant second", "the op is commutative, bit for bit");
  }
  return OkStatus();
}

}  // namespace aicf
