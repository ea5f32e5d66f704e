#include "compiler/passes/composite/composer.h"

#include <algorithm>

#include "base/scanner.h"
#include "compiler/passes/composite/pieces.h"

namespace aicf {
Composer::Composer(ir::Graph& graph, ValueMaker& make, const ir::Node& node, Visit visit,
                   Inliner inliner, PassContext* context)
    : graph_(graph),
      make_(make),
      node_(node),
      visit_(std::move(visit)),
      inliner_(std::move(inliner)),
      context_(context),
      base_(node.name) {
  for (size_t i = node.outputs.size(); i-- > 0;) {
    if (node.outputs[i] != ir::kNoValue) base_ = graph.values[node.outputs[i]].name;
  }
}

bool Composer::Wants(size_t output) const {
  return output < node_.outputs.size() && node_.outputs[output] != ir::kNoValue;
}

Dims Composer::Shape(ir::ValueId v) const {
  return v == ir::kNoValue ? Dims() : graph_.values[v].shape;
}

DType Composer::Type(ir::ValueId v) const {
  return v == ir::kNoValue ? DType::kF32 : graph_.values[v].dtype;
}

bool Composer::IsConstant(ir::ValueId v) const {
  return v != ir::kNoValue && graph_.values[v].is_constant();
}

void Composer::Explain(std::string choice, std::string refusal) {
  if (context_ == nullptr || !ok()) return;
  Decision d = context_->About(DecisionKind::kFusion, About(node_), "infer-and-fold");
  d.choice = std::move(choice);
  d.Because(Reason::kRule, refusal.empty() ? "what the model names as one op stays one"
                                           : "only what the op alone can say is one node");
  if (!refusal.empty()) d.alternatives.push_back({"one node", std::move(refusal), -1});
  context_->Record(std::move(d));
}

void Composer::Fail(Status status) {
  if (status_.ok()) status_ = std::move(status);
}

bool Composer::Usable(const std::vector<ir::ValueId>& inputs) const {
  return status_.ok() && (inputs.empty() || inputs[0] != ir::kNoValue);
}

std::string Composer::NameFor(std::string_view what) const { return StrCat(base_, ".", what); }

std::vector<ir::ValueId> Composer::Ops(std::string_view op, std::vector<ir::ValueId> inputs,
                                       ir::AttrMap attrs, size_t outputs) {
  std::vector<ir::ValueId> made(outputs, ir::kNoValue);
  if (!Usable(inputs)) return made;
  ir::Node node;
  node.op = op;
  node.name = node_.name;
  node.inputs = std::move(inputs);
  node.attrs = std::move(attrs);
  for (ir::ValueId& v : made) v = make_.Value(NameFor(op), DType::kF32, {});
  node.outputs = made;
  Fail(visit_(std::move(node)));
  if (!ok()) made.assign(outputs, ir::kNoValue);
  return made;
}

ir::ValueId Composer::Op(std::string_view op, std::vector<ir::ValueId> inputs, ir::AttrMap attrs) {
  return Ops(op, std::move(inputs), std::move(attrs), 1)[0];
}

ir::ValueId Composer::Apply(std::string_view body, ir::ValueId x) {
  const ir::Body* found = node_.FindBody(body);
  if (found == nullptr || !Usable({x})) return x;
  auto results = inliner_(node_, *found, std::span(&x, 1));
  if (results.ok() && results->size() == 1) return (*results)[0];
  Fail(results.ok()
           ? Error(Code::kBadModel, "'", body, "' has ", results->size(), " outputs, expected 1")
           : results.status().WithContext(StrCat("'", body, "'")));
  return ir::kNoValue;
}

ir::ValueId Composer::Scaled(ir::ValueId v, double factor) {
  return factor == 1 ? v : Mul(v, Scalar(factor, Type(v)));
}

ir::ValueId Composer::Cast(ir::ValueId v, DType to) {
  return Type(v) == to ? v : Op("Cast", {v}, {{"to", std::string(DTypeName(to))}});
}

ir::ValueId Composer::Reshape(ir::ValueId v, const Dims& shape) {
  if (v == ir::kNoValue || Shape(v) == shape) return v;
  return Op("Reshape", {v, make_.Ints(NameFor("shape"), shape.span())},
            {{"allowzero", int64_t{1}}});
}

ir::ValueId Composer::Transpose(ir::ValueId v, std::vector<int64_t> perm) {
  return Op("Transpose", {v}, {{"perm", std::move(perm)}});
}

ir::ValueId Composer::Slice(ir::ValueId v, int64_t axis, int64_t start, int64_t end, int64_t step) {
  return Op("Slice", {v, Ints({start}), Ints({end}), Ints({axis}), Ints({step})});
}

ir::ValueId Composer::Concat(std::vector<ir::ValueId> parts, int64_t axis) {
  if (std::ranges::find(parts, ir::kNoValue) != parts.end()) return ir::kNoValue;
  return Op("Concat", std::move(parts), {{"axis", axis}});
}

ir::ValueId Composer::Ints(const std::vector<int64_t>& values) {
  return make_.Ints(NameFor("ints"), values);
}

ir::ValueId Composer::Counting(int64_t first, const Dims& shape) {
  Fail(CheckTable(shape));
  if (!ok()) return ir::kNoValue;
  std::vector<int64_t> values(static_cast<size_t>(*ElementCount(shape)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = first + static_cast<int64_t>(i);
  return Constant(ir::Tensor::FromValues<int64_t>(DType::kI64, shape, values));
}

ir::ValueId Composer::Scalar(double value, DType dtype) {
  const bool plain =
      dtype == DType::kF64 || dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16;
  if (plain) return Constant(ScalarTensor(value, dtype));
  // ScalarTensor cannot make other dtypes, but a model may have integers, or floats that are only
  // stored, as operands of an op that has no such form.
  return Cast(Constant(ScalarTensor(value, DType::kF64)), dtype);
}

ir::ValueId Composer::Filled(double value, DType dtype, const Dims& shape) {
  return Op("Expand", {Scalar(value, dtype), make_.Ints(NameFor("shape"), shape.span())});
}

ir::ValueId Composer::Constant(ir::Tensor tensor) {
  return make_.Constant(NameFor("constant"), std::move(tensor));
}

void Composer::Output(size_t output, ir::ValueId v) {
  if (!ok() || !Wants(output)) return;
  if (v == ir::kNoValue) {
    return Fail(Error(Code::kInternal, "output ", output, " of ", node_.op, " is not computed"));
  }
  ir::Node node;
  node.op = "Identity";
  node.name = node_.name;
  node.inputs = {v};
  node.outputs = {node_.outputs[output]};
  Fail(visit_(std::move(node)));
}

}  // namespace aicf
