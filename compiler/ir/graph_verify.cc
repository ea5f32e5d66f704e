// The rules of ir::Graph, in the order in which a later one may rely on an earlier one.
#include <unordered_set>

#include "base/scanner.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/infer/infer.h"
#include "compiler/ir/loop_nodes.h"
#include "compiler/ir/op_table.h"

namespace aicf::ir {
namespace {

class GraphVerifier {
 public:
  explicit GraphVerifier(const Graph& graph) : g_(graph), defined_(graph.values.size(), false) {}

  Status Run() {
    AICF_RETURN_IF_ERROR(CheckValues());
    for (ValueId v : g_.inputs) AICF_RETURN_IF_ERROR(Define(v, "a graph input"));
    for (const Node& node : g_.nodes) {
      const Status status = CheckNode(node);
      if (!status.ok()) return status.WithContext(StrCat(node.op, " ", Quote(node.name)));
    }
    return CheckOutputs();
  }

 private:
  bool InRange(ValueId v) const { return v >= 0 && v < static_cast<ValueId>(g_.values.size()); }

  Status CheckValues() {
    std::unordered_set<std::string_view> names;
    names.reserve(g_.values.size());
    for (size_t i = 0; i < g_.values.size(); ++i) {
      const Value& v = g_.values[i];
      if (v.name.empty()) return BrokenGraph("value ", i, " has no name");
      if (!names.insert(v.name).second) return BrokenGraph("two values are named ", Quote(v.name));
      if (v.shape_known && !ElementCount(v.shape)) {
        return BrokenGraph(Quote(v.name), " has the impossible shape ", ToListString(v.shape));
      }
      if (!v.is_constant()) continue;
      defined_[i] = true;
      AICF_RETURN_IF_ERROR(CheckConstant(v));
    }
    return OkStatus();
  }

  Status CheckConstant(const Value& v) {
    const Tensor& t = v.constant;
    if (t.dtype() != v.dtype || !(t.shape() == v.shape) || !v.shape_known) {
      return BrokenGraph("constant ", Quote(v.name), " and its data differ in dtype or shape");
    }
    const int64_t bytes = t.count() * DTypeBytes(t.dtype());
    if (static_cast<int64_t>(t.bytes().size()) == bytes) return OkStatus();
    return BrokenGraph("constant ", Quote(v.name), " has ", t.bytes().size(), " bytes, expected ",
                       bytes);
  }

  Status Define(ValueId v, std::string_view by) {
    if (!InRange(v)) return BrokenGraph(by, " is value ", v, " of ", g_.values.size());
    if (defined_[v]) return BrokenGraph(Quote(g_.values[v].name), " is defined again by ", by);
    defined_[v] = true;
    return OkStatus();
  }

  Status CheckNode(const Node& node) {
    const OpInfo* op = FindOp(node.op);
    if (op == nullptr) return BrokenGraph("the op is not in ops.def");
    const int inputs = static_cast<int>(node.inputs.size());
    const int outputs = static_cast<int>(node.outputs.size());
    if (inputs < op->min_inputs || (op->max_inputs >= 0 && inputs > op->max_inputs)) {
      return BrokenGraph("has ", inputs, " inputs");
    }
    if (outputs == 0 || (op->outputs >= 0 && outputs != op->outputs)) {
      return BrokenGraph("has ", outputs, " outputs");
    }
    if (inputs > 0 && node.inputs.back() == kNoValue)
      return BrokenGraph("its last input is absent");
    for (int i = 0; i < inputs; ++i) AICF_RETURN_IF_ERROR(CheckInput(*op, node.inputs[i], i));
    for (ValueId v : node.outputs) {
      if (v != kNoValue) AICF_RETURN_IF_ERROR(Define(v, "a node"));
    }
    return OkStatus();
  }

  Status CheckInput(const OpInfo& op, ValueId v, int i) {
    if (v == kNoValue) {
      const bool optional = op.max_inputs >= 0 && i >= op.min_inputs;
      return optional ? OkStatus() : BrokenGraph("input ", i, " is absent");
    }
    if (!InRange(v)) return BrokenGraph("input ", i, " is value ", v, " of ", g_.values.size());
    if (!defined_[v]) return BrokenGraph(Quote(g_.values[v].name), " is used before it is defined");
    return OkStatus();
  }

  Status CheckOutputs() {
    std::unordered_set<ValueId> seen;
    for (ValueId v : g_.outputs) {
      if (!InRange(v)) return BrokenGraph("an output is value ", v, " of ", g_.values.size());
      if (!defined_[v])
        return BrokenGraph("output ", Quote(g_.values[v].name), " is never produced");
      if (!seen.insert(v).second)
        return BrokenGraph("output ", Quote(g_.values[v].name), " is repeated");
    }
    return OkStatus();
  }

  const Graph& g_;
  std::vector<bool> defined_;
};

bool ShapesKnown(const Graph& graph, const std::vector<ValueId>& ids) {
  for (ValueId v : ids) {
    if (v != kNoValue && !graph.values[v].shape_known) return false;
  }
  return true;
}

// Infers every node again on a copy of the values and compares.
Status CheckInferred(const Graph& graph) {
  Graph again;
  again.values = graph.values;
  for (const Node& node : graph.nodes) {
    if (!ShapesKnown(graph, node.inputs) || !ShapesKnown(graph, node.outputs)) continue;
    const Status status = InferNode(again, node);
    if (!status.ok()) return BrokenGraph(status.message());
    for (ValueId v : node.outputs) {
      if (v == kNoValue) continue;
      const Value& has = graph.values[v];
      const Value& expected = again.values[v];
      if (has.dtype == expected.dtype && has.shape == expected.shape) continue;
      return BrokenGraph(Quote(has.name), " is ", DTypeName(has.dtype), " ", ToString(has.shape),
                         ", but ", node.op, " gives ", DTypeName(expected.dtype), " ",
                         ToString(expected.shape));
    }
  }
  return OkStatus();
}

}  // namespace

Status Verify(const Graph& graph) {
  AICF_RETURN_IF_ERROR(GraphVerifier(graph).Run());
  AICF_RETURN_IF_ERROR(CheckLoops(graph));
  return CheckInferred(graph);
}

}  // namespace aicf::ir
