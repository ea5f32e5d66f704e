#include "compiler/passes/graph/scalar_factor.h"

#include <cmath>

namespace aicf {

std::optional<double> FactorOf(const ir::Graph& graph, const ir::Node& node) {
  if (node.op != "Mul" && node.op != "Div") return std::nullopt;
  const ir::Value& scalar = graph.values[node.inputs[1]];
  if (!scalar.is_constant() || scalar.constant.count() != 1 || !IsFloat(scalar.dtype)) {
    return std::nullopt;
  }
  // A scalar of higher rank would add axes.
  if (graph.values[node.inputs[0]].shape != graph.values[node.outputs[0]].shape)
    return std::nullopt;
  const double value = scalar.constant.FloatAt(0);
  const double factor = node.op == "Mul" ? value : 1 / value;
  return std::isnormal(factor) ? std::optional(factor) : std::nullopt;
}

}  // namespace aicf
