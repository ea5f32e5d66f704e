/// Writes a graph by function calls: each call appends one node in the place of the composite.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "compiler/passes/graph/rewrite.h"

namespace aicf {

/// Writes the expansion of one composite node. After the first error every later call does nothing,
/// so an expansion reads as a formula and asks for status() once, at its end. A failed call returns
/// kNoValue, and Shape(kNoValue) is that of a scalar.
class Composer {
 public:
  /// Infers a node, folds it where that is possible, and otherwise appends it to the graph.
  using Visit = std::function<Status(ir::Node)>;

  /// Appends the nodes of `body`, a subgraph of `owner`, with `arguments` in the place of the
  /// body's inputs. Returns the body's outputs.
  using Inliner = std::function<Result<std::vector<ir::ValueId>>(
      const ir::Node& owner, const ir::Body& body, std::span<const ir::ValueId> arguments)>;

  /// `context` records what Explain says; without a context nothing is recorded.
  Composer(ir::Graph& graph, ValueMaker& make, const ir::Node& node, Visit visit,
           Inliner inliner = nullptr, PassContext* context = nullptr);

  const ir::Node& node() const { return node_; }
  const ir::Graph& graph() const { return graph_; }
  bool Has(size_t input) const { return node_.input(input) != ir::kNoValue; }
  ir::ValueId In(size_t input) const { return node_.input(input); }
  bool Wants(size_t output) const;
  Dims Shape(ir::ValueId v) const;  ///< a copy: appending nodes moves the values
  DType Type(ir::ValueId v) const;
  bool IsConstant(ir::ValueId v) const;

  /// One node with one output.
  ir::ValueId Op(std::string_view op, std::vector<ir::ValueId> inputs, ir::AttrMap attrs = {});
  /// One node with `outputs` outputs.
  std::vector<ir::ValueId> Ops(std::string_view op, std::vector<ir::ValueId> inputs,
                               ir::AttrMap attrs, size_t outputs);

  /// Applies the composite's body of that name to x; returns x itself when there is no such body.
  ir::ValueId Apply(std::string_view body, ir::ValueId x);

  ir::ValueId Add(ir::ValueId a, ir::ValueId b) { return Op("Add", {a, b}); }
  ir::ValueId Sub(ir::ValueId a, ir::ValueId b) { return Op("Sub", {a, b}); }
  ir::ValueId Mul(ir::ValueId a, ir::ValueId b) { return Op("Mul", {a, b}); }
  ir::ValueId MatMul(ir::ValueId a, ir::ValueId b) { return Op("MatMul", {a, b}); }
  /// v * factor; v itself for a factor of 1.
  ir::ValueId Scaled(ir::ValueId v, double factor);
  ir::ValueId Cast(ir::ValueId v, DType to);  ///< v itself when it has that dtype
  ir::ValueId Reshape(ir::ValueId v, const Dims& shape);
  ir::ValueId Transpose(ir::ValueId v, std::vector<int64_t> perm);
  /// v[.., start, start + step, .. before end, ..] along an axis; both ends as ONNX's Slice has
  /// them.
  ir::ValueId Slice(ir::ValueId v, int64_t axis, int64_t start, int64_t end, int64_t step = 1);
  /// The `count` elements from `start` on along an axis.
  ir::ValueId Window(ir::ValueId v, int64_t axis, int64_t start, int64_t count) {
    return Slice(v, axis, start, start + count);
  }
  ir::ValueId Concat(std::vector<ir::ValueId> parts, int64_t axis);

  ir::ValueId Ints(const std::vector<int64_t>& values);
  /// first, first + 1, .. as an i64 tensor of the given shape.
  ir::ValueId Counting(int64_t first, const Dims& shape);
  /// A rank-0 constant of a float dtype.
  ir::ValueId Scalar(double value, DType dtype);
  /// A constant of a float dtype whose elements are all equal.
  ir::ValueId Filled(double value, DType dtype, const Dims& shape);
  ir::ValueId Constant(ir::Tensor tensor);

  /// Makes v the value of an output of the composite. Does nothing when the node does not have that
  /// output.
  void Output(size_t output, ir::ValueId v);

  /// Records what the composite becomes; `refusal`, unless it is empty, is the condition ("name:
  /// sentence") that keeps it from being one node.
  void Explain(std::string choice, std::string refusal);

  void Fail(Status status);
  Status status() const { return status_; }
  bool ok() const { return status_.ok(); }

 private:
  bool Usable(const std::vector<ir::ValueId>& inputs) const;
  std::string NameFor(std::string_view what) const;

  ir::Graph& graph_;
  ValueMaker& make_;
  const ir::Node node_;
  Visit visit_;
  Inliner inliner_;
  PassContext* context_;
  std::string base_;  ///< name of the first output
  Status status_;
};

}  // namespace aicf
