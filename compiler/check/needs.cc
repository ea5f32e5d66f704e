#include "compiler/check/needs.h"

#include <map>

#include "compiler/ir/constant_inputs.h"

namespace aicf {
namespace {

using ir::kNoValue;
using ir::ValueId;

// The node alone, with everything that it reads as an input.
class Alone {
 public:
  explicit Alone(const ir::Node& source) {
    ir::Node node = source;
    for (ValueId& v : node.inputs) v = Inside(v);
    for (ir::Body& body : node.bodies) {
      for (auto& [inner, outer] : body.captures) outer = Inside(outer);
    }
    for (ValueId& v : node.outputs) {
      if (v != kNoValue) v = graph_.AddValue({});
    }
    graph_.nodes.push_back(std::move(node));
  }

  std::vector<ValueId> Needs() const {
    std::vector<ValueId> out;
    for (ValueId v : ir::InputsToBind(graph_)) out.push_back(outside_.at(v));
    return out;
  }

 private:
  ValueId Inside(ValueId outer) {
    if (outer == kNoValue) return kNoValue;
    const auto [it, added] = inside_.emplace(outer, kNoValue);
    if (!added) return it->second;
    it->second = graph_.AddValue({});
    outside_.emplace(it->second, outer);
    graph_.inputs.push_back(it->second);
    return it->second;
  }

  ir::Graph graph_;
  std::map<ValueId, ValueId> inside_, outside_;
};

}  // namespace

std::vector<ValueId> MustBeConstant(const ir::Graph& graph, const ir::Node& node) {
  std::vector<ValueId> out;
  for (ValueId v : Alone(node).Needs()) {
    if (!graph.values[v].is_constant()) out.push_back(v);
  }
  return out;
}

std::vector<ValueId> InputsBehind(const ir::Graph& graph, ValueId value) {
  std::vector<bool> wanted(graph.values.size(), false);
  wanted[value] = true;
  for (size_t n = graph.nodes.size(); n-- > 0;) {
    const ir::Node& node = graph.nodes[n];
    bool reaches = false;
    for (ValueId v : node.outputs) reaches = reaches || (v != kNoValue && wanted[v]);
    if (!reaches || node.op == "Shape" || node.op == "Size") continue;
    for (ValueId v : node.inputs) {
      if (v != kNoValue) wanted[v] = true;
    }
    for (const ir::Body& body : node.bodies) {
      for (const auto& [inner, outer] : body.captures) wanted[outer] = true;
    }
  }
  std::vector<ValueId> out;
  for (ValueId v : graph.inputs) {
    if (wanted[v]) out.push_back(v);
  }
  return out;
}

}  // namespace aicf
