#include "compiler/import/language/graph_writer.h"

#include <algorithm>

namespace aicf::language {

std::string GraphWriter::Fresh(std::string_view base) {
  std::string name(base);
  int& count = used_[name];
  if (count++ == 0) return name;
  // A suffixed name may be somebody's base, too.
  std::string fresh = StrCat(base, ".", count - 1);
  while (used_.contains(fresh)) fresh = StrCat(base, ".", count++);
  used_[fresh] = 1;
  return fresh;
}

ValueId GraphWriter::Input(std::string_view name, DType dtype, const Dims& shape,
                           std::vector<std::string> symbols) {
  ir::Value value;
  value.name = Fresh(name);
  value.dtype = dtype;
  value.shape = shape;
  value.shape_known = std::ranges::all_of(shape, [](int64_t extent) { return extent >= 0; });
  value.symbols = std::move(symbols);
  const ValueId id = graph_.AddValue(std::move(value));
  graph_.inputs.push_back(id);
  return id;
}

void GraphWriter::Output(std::string_view name, ValueId value) {
  graph_.values[value].name = Fresh(name);
  graph_.outputs.push_back(value);
}

ValueId GraphWriter::Constant(std::string_view name, ir::Tensor tensor) {
  ir::Value value;
  value.name = Fresh(name);
  value.dtype = tensor.dtype();
  value.shape = tensor.shape();
  value.shape_known = true;
  value.constant = std::move(tensor);
  return graph_.AddValue(std::move(value));
}

ValueId GraphWriter::Ints(const std::vector<int64_t>& values) {
  return Constant("ints", ir::Tensor::FromValues<int64_t>(
                              DType::kI64, {static_cast<int64_t>(values.size())}, values));
}

ValueId GraphWriter::Float(double value) {
  const float v = static_cast<float>(value);
  return Constant("number", ir::Tensor::FromValues<float>(DType::kF32, {}, std::span(&v, 1)));
}

ValueId GraphWriter::Int32(int64_t value) {
  const auto v = static_cast<int32_t>(value);
  return Constant("number", ir::Tensor::FromValues<int32_t>(DType::kI32, {}, std::span(&v, 1)));
}

ValueId GraphWriter::Floats(std::string_view name, const std::vector<float>& values,
                            const Dims& shape) {
  return Constant(name, ir::Tensor::FromValues<float>(DType::kF32, shape, values));
}

ValueId GraphWriter::Op(std::string_view op, std::vector<ValueId> inputs, ir::AttrMap attrs) {
  return Ops(op, std::move(inputs), std::move(attrs), 1)[0];
}

std::vector<ValueId> GraphWriter::Ops(std::string_view op, std::vector<ValueId> inputs,
                                      ir::AttrMap attrs, size_t outputs) {
  ir::Node node;
  node.op = op;
  node.name = Fresh(StrCat(scope_, "/", op));
  node.inputs = std::move(inputs);
  node.attrs = std::move(attrs);
  for (size_t i = 0; i < outputs; ++i) {
    ir::Value value;
    value.name = Fresh(node.name + ":0");
    node.outputs.push_back(graph_.AddValue(std::move(value)));
  }
  graph_.nodes.push_back(node);
  return node.outputs;
}

ValueId GraphWriter::Cast(ValueId x, DType to) {
  return Op("Cast", {x}, {{"to", std::string(DTypeName(to))}});
}
ValueId GraphWriter::Reshape(ValueId x, const std::vector<int64_t>& shape) {
  return Op("Reshape", {x, Ints(shape)});
}
ValueId GraphWriter::Transpose(ValueId x, const std::vector<int64_t>& axes) {
  return Op("Transpose", {x}, {{"perm", axes}});
}
ValueId GraphWriter::Unsqueeze(ValueId x, int64_t axis) {
  return Op("Unsqueeze", {x, Ints({axis})});
}
std::vector<ValueId> GraphWriter::Split(ValueId x, const std::vector<int64_t>& parts) {
  return Ops("Split", {x, Ints(parts)}, {{"axis", int64_t{-1}}}, parts.size());
}
ValueId GraphWriter::Concat(std::vector<ValueId> parts, int64_t axis) {
  return Op("Concat", std::move(parts), {{"axis", axis}});
}

}  // namespace aicf::language
