/// ir::Graph: what to compute. Logical tensors in the model's own shapes; no layout, no device.
///
/// Ops carry ONNX names and the newest supported opset's meaning: the importer rewrites older forms
/// (attribute axes become inputs, implicit broadcasting becomes explicit, Dropout disappears), so
/// passes and lowerings know one form only. Attributes keep ONNX names.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/status.h"
#include "compiler/ir/tensor.h"

namespace aicf::ir {

using ValueId = int32_t;
inline constexpr ValueId kNoValue = -1;  ///< an absent optional input or unused output

using AttrValue = std::variant<int64_t, double, std::string, std::vector<int64_t>,
                               std::vector<double>, std::vector<std::string>, Tensor>;
using AttrMap = std::map<std::string, AttrValue, std::less<>>;

struct Value {
  std::string name;  ///< unique in the graph
  DType dtype = DType::kF32;
  Dims shape;                ///< all extents known once inference ran; before, -1: not known
  bool shape_known = false;  ///< false with rank 0: not even the rank is known
  std::vector<std::string>
      symbols;      ///< graph inputs: the model's name per unknown extent, or empty
  Tensor constant;  ///< has_data() for constants
  bool is_constant() const { return constant.has_data(); }
};

struct Graph;

/// A subgraph that a control-flow node holds (a branch, a loop's body). It exists only between
/// import and shape inference, which expands every such node (compiler/passes/graph/expand.h).
struct Body {
  std::string attribute;               ///< "then_branch", "body", ...
  std::shared_ptr<const Graph> graph;  ///< inputs: the formal inputs, whose types may be unknown
  /// Values of the surrounding graph that the body reads: (value of the body, value outside).
  std::vector<std::pair<ValueId, ValueId>> captures;
};

struct Node {
  std::string op;               ///< row of ops.def, e.g. "Conv"
  std::string name;             ///< the source node's name, or "op:first_output" when it had none
  std::vector<ValueId> inputs;  ///< trailing absent inputs are dropped
  std::vector<ValueId> outputs;
  AttrMap attrs;
  std::vector<Body> bodies;

  int64_t Int(std::string_view key, int64_t fallback) const;
  double Float(std::string_view key, double fallback) const;  ///< the fallback rounded to float
  std::string Str(std::string_view key, std::string_view fallback) const;
  std::vector<int64_t> Ints(std::string_view key) const;   ///< empty when absent
  const Body* FindBody(std::string_view attribute) const;  ///< nullptr when absent
  bool Has(std::string_view key) const { return attrs.find(key) != attrs.end(); }
  ValueId input(size_t i) const { return i < inputs.size() ? inputs[i] : kNoValue; }
};

/// Nodes are in topological order; every value has at most one producer.
struct Graph {
  std::string name;
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<ValueId> inputs;  ///< graph inputs that are not constants, in the model's order
  std::vector<ValueId> outputs;
  /// The model's own key/value strings (ONNX metadata_props), in file order; kept in the artifact.
  std::vector<std::pair<std::string, std::string>> metadata;

  ValueId AddValue(Value value);
  /// A fresh value name that no value has: base, base.1, base.2, ...
  std::string UniqueName(std::string_view base) const;
};

/// node index producing each value (-1: input or constant), and nodes using each value.
std::vector<int> ProducerOf(const Graph& graph);
std::vector<std::vector<int>> UsersOf(const Graph& graph);

/// Checks the rules of a graph: ids in range, topological order, one producer, loops in pairs that
/// keep their values (compiler/ir/loop_nodes.h), known ops with legal arity, unique names, bytes of
/// constants that match; and every dtype and shape is what the rule of its node infers, where the
/// shapes of the inputs are known. Errors: kInternal; the importer reports its own. Afterwards the
/// graph is as it was before, but it changes meanwhile, so a constant graph is copied.
Status Verify(Graph& graph);
Status Verify(const Graph& graph);

/// Text that parses back. Constants up to 16 elements are written out; larger ones as
/// "@<hash>", resolved by `resolve` on parsing (see compiler/ir/text.h).
std::string ToString(const Graph& graph);

}  // namespace aicf::ir
