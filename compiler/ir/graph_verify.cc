// The rules of ir::Graph, in the order in which a later one may rely on an earlier one.
#include <bit>
#include <functional>
#include <unordered_set>

#include "base/scanner.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/infer/infer.h"
#include "compiler/ir/loop_nodes.h"
#include "compiler/ir/op_table.h"

namespace aicf::ir {
namespace {

// The names that were seen, of as many values as are given at the start. The graph is verified
// after every pass: this table, without memory for each name, takes a third of the time that a set
// takes.
class NameTable {
 public:
  explicit NameTable(const std::vector<Value>& values)
      : values_(values), slots_(std::bit_ceil(2 * values.size() + 1), 0) {}

  /// False where an earlier value has the name.
  bool Insert(size_t value) {
    const uint64_t hash = std::hash<std::string_view>()(values_[value].name);
    const uint64_t tag = hash & ~uint64_t{0xffffffff};
    const uint64_t entry = tag | (value + 1);  // fewer than 2^32 values: their ids are i32
    for (size_t at = hash;; ++at) {
      uint64_t& slot = slots_[at & (slots_.size() - 1)];
      if (slot == 0) {
        slot = entry;
        return true;
      }
      const auto other = static_cast<size_t>((slot & 0xffffffff) - 1);
      if ((slot ^ tag) >> 32 == 0 && values_[other].name == values_[value].name) return false;
    }
  }

 private:
  const std::vector<Value>& values_;
  std::vector<uint64_t> slots_;  // by hash: the hash's upper half and the value + 1; 0: free
};

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
    NameTable names(g_.values);
    for (size_t i = 0; i < g_.values.size(); ++i) {
      const Value& v = g_.values[i];
      if (v.name.empty()) return BrokenGraph("value ", i, " has no name");
      if (!names.Insert(i)) return BrokenGraph("two values are named ", Quote(v.name));
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

struct Type {
  DType dtype;
  Dims shape;
};

// Infers nodes again and compares. Inference writes the types of a node's outputs into the graph.
// Where the graph is right, these are there already; where it is not, the old ones are put back.
class Inference {
 public:
  explicit Inference(Graph& graph) : g_(graph) {}

  Status Check(const Node& node) {
    if (!ShapesKnown(g_, node.inputs) || !ShapesKnown(g_, node.outputs)) return OkStatus();
    types_.clear();
    for (ValueId v : node.outputs) types_.push_back(v == kNoValue ? Type{} : TypeOf(v));
    const Status inferred = InferNode(g_, node);
    Status status = inferred.ok() ? Compare(node) : BrokenGraph(inferred.message());
    if (!status.ok()) Restore(node);
    return status;
  }

 private:
  Type TypeOf(ValueId v) const { return {g_.values[v].dtype, g_.values[v].shape}; }

  Status Compare(const Node& node) const {
    for (size_t i = 0; i < types_.size(); ++i) {
      if (node.outputs[i] == kNoValue) continue;
      const Value& expected = g_.values[node.outputs[i]];
      const Type& has = types_[i];
      if (has.dtype == expected.dtype && has.shape == expected.shape) continue;
      return BrokenGraph(Quote(expected.name), " is ", DTypeName(has.dtype), " ",
                         ToString(has.shape), ", but ", node.op, " gives ",
                         DTypeName(expected.dtype), " ", ToString(expected.shape));
    }
    return OkStatus();
  }

  void Restore(const Node& node) {
    for (size_t i = 0; i < types_.size(); ++i) {
      if (node.outputs[i] == kNoValue) continue;
      g_.values[node.outputs[i]].dtype = types_[i].dtype;
      g_.values[node.outputs[i]].shape = types_[i].shape;
    }
  }

  Graph& g_;
  std::vector<Type> types_;  // of the node's outputs, before
};

Status CheckInferred(Graph& graph) {
  Inference inference(graph);
  for (const Node& node : graph.nodes) AICF_RETURN_IF_ERROR(inference.Check(node));
  return OkStatus();
}

}  // namespace

Status Verify(Graph& graph) {
  AICF_RETURN_IF_ERROR(GraphVerifier(graph).Run());
  AICF_RETURN_IF_ERROR(CheckLoops(graph));
  return CheckInferred(graph);
}

Status Verify(const Graph& graph) {
  Graph copy = graph;
  return Verify(copy);
}

}  // namespace aicf::ir
