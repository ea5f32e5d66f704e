#include "compiler/ir/constant_inputs.h"

#include <algorithm>
#include <initializer_list>

namespace aicf::ir {
namespace {

struct ConstantRow {
  std::string_view op;
  uint32_t inputs;  // bit i: input i
};

constexpr uint32_t Inputs(std::initializer_list<int> list) {
  uint32_t bits = 0;
  for (int i : list) bits |= uint32_t{1} << i;
  return bits;
}

// Ops without a row need no constant input: a run may compute all of them.
constexpr ConstantRow kConstantInputs[] = {
    {"AffineGrid", Inputs({1})},
    {"BlackmanWindow", Inputs({0})},
    {"CenterCropPad", Inputs({1})},
    {"Col2Im", Inputs({1, 2})},
    {"ConstantOfShape", Inputs({0})},
    {"CumProd", Inputs({1})},
    {"CumSum", Inputs({1})},
    {"DFT", Inputs({1, 2})},
    {"Dropout", Inputs({1, 2})},
    {"Expand", Inputs({1})},
    {"HammingWindow", Inputs({0})},
    {"HannWindow", Inputs({0})},
    {"Loop", Inputs({0})},
    {"MaxUnpool", Inputs({2})},
    {"MelWeightMatrix", Inputs({0, 1, 2, 3, 4})},
    {"OneHot", Inputs({1})},
    {"Pad", Inputs({1, 3})},
    {"Range", Inputs({0, 1, 2})},
    {"ReduceL1", Inputs({1})},
    {"ReduceL2", Inputs({1})},
    {"ReduceLogSum", Inputs({1})},
    {"ReduceLogSumExp", Inputs({1})},
    {"ReduceMax", Inputs({1})},
    {"ReduceMean", Inputs({1})},
    {"ReduceMin", Inputs({1})},
    {"ReduceProd", Inputs({1})},
    {"ReduceSum", Inputs({1})},
    {"ReduceSumSquare", Inputs({1})},
    {"Reshape", Inputs({1})},
    {"Resize", Inputs({1, 2, 3})},
    {"ResizeGeneral", Inputs({1, 2, 3})},
    {"STFT", Inputs({1, 3})},
    {"Slice", Inputs({1, 2, 3, 4})},
    {"Split", Inputs({1})},
    {"SplitToSequence", Inputs({1})},
    {"Squeeze", Inputs({1})},
    {"Tile", Inputs({1})},
    {"TopK", Inputs({1})},
    {"Unsqueeze", Inputs({1})},
    {"com.microsoft.GroupQueryAttention", Inputs({6})},
};

bool ReadsShapeOnly(std::string_view op) { return op == "Shape" || op == "Size"; }

// A loop that stacks a value per iteration has to know how many there are.
bool StacksResults(const Node& node, const Body& body) {
  return node.op == "Loop" && body.graph->outputs.size() > body.graph->inputs.size() - 1;
}

std::vector<bool> NeededValues(const Graph& graph, std::vector<bool> needed);

// Adds the values around a body that its nodes need to be constant. The formal inputs of the body
// are the node's inputs, in order.
void AddBody(const Node& node, const Body& body, bool wanted, std::vector<bool>& needed) {
  const Graph& inner = *body.graph;
  std::vector<bool> inside(inner.values.size(), false);
  const bool stacks = StacksResults(node, body);
  if (stacks && !inner.outputs.empty()) inside[inner.outputs[0]] = true;
  if (stacks && node.input(1) != kNoValue) needed[node.inputs[1]] = true;
  for (ValueId v : inner.outputs) {
    if (wanted) inside[v] = true;
  }
  inside = NeededValues(inner, std::move(inside));
  for (const auto& [in, out] : body.captures) {
    if (inside[in]) needed[out] = true;
  }
  for (size_t i = 0; i < inner.inputs.size() && node.op != "If"; ++i) {
    if (inside[inner.inputs[i]] && node.input(i) != kNoValue) needed[node.inputs[i]] = true;
  }
}

// Walks the nodes backwards: an input is needed where a result of its node is needed, or where the
// op itself needs it (NeedsConstant).
std::vector<bool> NeededValues(const Graph& graph, std::vector<bool> needed) {
  for (size_t n = graph.nodes.size(); n-- > 0;) {
    const Node& node = graph.nodes[n];
    const bool wanted =
        std::ranges::any_of(node.outputs, [&](ValueId v) { return v != kNoValue && needed[v]; });
    for (const Body& body : node.bodies) AddBody(node, body, wanted, needed);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] == kNoValue) continue;
      const bool through = wanted && !ReadsShapeOnly(node.op);
      if (through || NeedsConstant(node, i)) needed[node.inputs[i]] = true;
    }
  }
  return needed;
}

}  // namespace

bool NeedsConstant(const Node& node, size_t i) {
  const auto row = std::ranges::find(kConstantInputs, node.op, &ConstantRow::op);
  return row != std::end(kConstantInputs) && i < 32 && (row->inputs >> i & 1) != 0;
}

std::vector<ValueId> InputsToBind(const Graph& graph) {
  const std::vector<bool> needed =
      NeededValues(graph, std::vector<bool>(graph.values.size(), false));
  std::vector<ValueId> out;
  for (ValueId id : graph.inputs) {
    if (needed[id]) out.push_back(id);
  }
  return out;
}

}  // namespace aicf::ir
