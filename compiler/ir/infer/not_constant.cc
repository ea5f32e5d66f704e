#include "compiler/ir/infer/not_constant.h"

#include <algorithm>

#include "base/scanner.h"

namespace aicf::ir {
namespace {

/// The graph's inputs from which the value is computed, in the graph's order.
std::vector<ValueId> InputsOf(const Graph& graph, ValueId value) {
  std::vector<bool> needed(graph.values.size(), false);
  needed[value] = true;
  for (size_t n = graph.nodes.size(); n-- > 0;) {
    const Node& node = graph.nodes[n];
    const auto is_needed = [&](ValueId v) { return v != kNoValue && needed[v]; };
    if (std::ranges::none_of(node.outputs, is_needed)) continue;
    for (const ValueId v : node.inputs) {
      if (v != kNoValue) needed[v] = true;
    }
  }
  std::vector<ValueId> out;
  std::ranges::copy_if(graph.inputs, std::back_inserter(out), [&](ValueId v) { return needed[v]; });
  return out;
}

// "--bind=a:FILE.npy and --bind=b:FILE.npy", of more than three inputs the first ones.
std::string BindFlags(const Graph& graph, const std::vector<ValueId>& inputs) {
  constexpr size_t kMostShown = 3;
  std::string flags;
  for (size_t i = 0; i < std::min(inputs.size(), kMostShown); ++i) {
    flags += StrCat(i == 0 ? "" : " and ", "--bind=", graph.values[inputs[i]].name, ":FILE.npy");
  }
  return inputs.size() <= kMostShown ? flags
                                     : StrCat(flags, " and ", inputs.size() - kMostShown, " more");
}

}  // namespace

Status NotConstant(const Graph& graph, ValueId value, std::string_view what) {
  const std::vector<ValueId> inputs = InputsOf(graph, value);
  const std::string subject = StrCat(what, " (", Quote(graph.values[value].name), ")");
  const auto is_data = [&](ValueId v) { return graph.values[v].shape.rank() > 1; };
  if (inputs.empty() || std::ranges::any_of(inputs, is_data)) {
    return Error(Code::kUnsupported, subject,
                 " is computed from the model's inputs; only constants are supported there");
  }
  const bool itself = inputs.front() == value;
  return Error(Code::kUnsupported, subject,
               itself ? " is an input, whose value has to be known while compiling; bind it with "
                      : " is computed from inputs, whose values have to be known while compiling; "
                        "bind them with ",
               BindFlags(graph, inputs));
}

}  // namespace aicf::ir
