#include "compiler/check/partial_graph.h"

#include <algorithm>
#include <iterator>

#include "compiler/check/symbols.h"

namespace aicf {
namespace {

using ir::kNoValue;
using ir::ValueId;

template <class Visit>
void ForEachRead(const ir::Node& node, Visit visit) {
  for (ValueId v : node.inputs) {
    if (v != kNoValue) visit(v);
  }
  for (const ir::Body& body : node.bodies) {
    for (const auto& [inner, outer] : body.captures) visit(outer);
  }
}

}  // namespace

PartialGraph::PartialGraph(ir::Graph graph, const Declared& declared, std::vector<ValueId> reads)
    : graph_(std::move(graph)), reads_(std::move(reads)), dropped_(graph_.nodes.size(), false) {
  const Symbols symbols = BoundSymbols(graph_);
  for (size_t v = 0; v < graph_.values.size(); ++v) {
    const auto it = declared.find(graph_.values[v].name);
    if (it == declared.end()) continue;
    ir::Value value = it->second;
    if (FillExtents(value, symbols) && ElementCount(value.shape))
      declared_.emplace(static_cast<ValueId>(v), std::move(value));
  }
}

bool PartialGraph::Assume(ValueId v, Part& part) const {
  const auto it = declared_.find(v);
  if (it == declared_.end()) return false;
  ir::Value& value = part.graph.values[v];
  value.dtype = it->second.dtype;
  value.shape = it->second.shape;
  value.shape_known = true;
  part.graph.inputs.push_back(v);
  part.assumes = true;
  return true;
}

PartialGraph::Part PartialGraph::Remaining() const {
  Part part;
  part.graph.name = graph_.name;
  part.graph.values = graph_.values;
  part.graph.inputs = graph_.inputs;
  std::vector<bool> known(graph_.values.size()), made(graph_.values.size());
  for (ValueId v : graph_.inputs) known[v] = true;
  for (const ir::Node& node : graph_.nodes) {
    for (ValueId v : node.outputs) {
      if (v != kNoValue) made[v] = true;
    }
  }
  for (size_t v = 0; v < known.size(); ++v) {
    if (graph_.values[v].is_constant()) known[v] = true;
    if (!known[v] && !made[v]) known[v] = Assume(static_cast<ValueId>(v), part);
  }
  std::vector<ValueId> boundary = reads_;
  for (size_t n = 0; n < graph_.nodes.size(); ++n) {
    const ir::Node& node = graph_.nodes[n];
    bool keep = !dropped_[n];
    ForEachRead(node, [&](ValueId v) { keep = keep && known[v]; });
    for (ValueId v : node.outputs) {
      if (v != kNoValue) known[v] = keep || Assume(v, part);
    }
    if (keep) {
      part.graph.nodes.push_back(node);
      part.nodes.push_back(n);
    } else {
      ForEachRead(node, [&](ValueId v) { boundary.push_back(v); });
    }
  }
  for (ValueId v : graph_.outputs) {
    if (known[v]) part.graph.outputs.push_back(v);
  }
  std::ranges::sort(boundary);
  boundary.erase(std::unique(boundary.begin(), boundary.end()), boundary.end());
  std::ranges::copy_if(boundary, std::back_inserter(part.boundary),
                       [&](ValueId v) { return known[v] && made[v]; });
  return part;
}

}  // namespace aicf
