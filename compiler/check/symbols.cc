#include "compiler/check/symbols.h"

namespace aicf {

Symbols BoundSymbols(const ir::Graph& graph) {
  Symbols out;
  for (ir::ValueId id : graph.inputs) {
    const ir::Value& input = graph.values[id];
    if (!input.shape_known) continue;
    for (size_t i = 0; i < input.symbols.size(); ++i) {
      if (!input.symbols[i].empty())
        out.emplace(input.symbols[i], input.shape[static_cast<int>(i)]);
    }
  }
  return out;
}

bool FillExtents(ir::Value& value, const Symbols& symbols) {
  if (value.shape_known) return true;
  if (value.shape.empty()) return false;
  bool known = true;
  for (int i = 0; i < value.shape.rank(); ++i) {
    if (value.shape[i] >= 0) continue;
    const auto it = symbols.find(value.symbols[static_cast<size_t>(i)]);
    if (it != symbols.end()) value.shape[i] = it->second;
    known = known && it != symbols.end();
  }
  return known;
}

}  // namespace aicf
