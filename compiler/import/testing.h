/// Small ONNX models, built in tests.
#pragma once

#include <onnx/onnx.pb.h>

#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/import/onnx.h"

namespace aicf::testing {

using Extents = std::vector<int64_t>;
using Names = std::vector<std::string>;

inline onnx::AttributeProto& AddAttribute(onnx::NodeProto& node, const std::string& name,
                                          onnx::AttributeProto::AttributeType type) {
  onnx::AttributeProto& a = *node.add_attribute();
  a.set_name(name);
  a.set_type(type);
  return a;
}
inline void SetInt(onnx::NodeProto& node, const std::string& name, int64_t v) {
  AddAttribute(node, name, onnx::AttributeProto::INT).set_i(v);
}
inline void SetFloat(onnx::NodeProto& node, const std::string& name, float v) {
  AddAttribute(node, name, onnx::AttributeProto::FLOAT).set_f(v);
}
inline void SetString(onnx::NodeProto& node, const std::string& name, const std::string& v) {
  AddAttribute(node, name, onnx::AttributeProto::STRING).set_s(v);
}
inline void SetInts(onnx::NodeProto& node, const std::string& name, const Extents& v) {
  onnx::AttributeProto& a = AddAttribute(node, name, onnx::AttributeProto::INTS);
  for (int64_t i : v) a.add_ints(i);
}

inline ir::Tensor Floats(const Dims& shape, const std::vector<float>& values) {
  return ir::Tensor::FromValues<float>(DType::kF32, shape, std::span<const float>(values));
}

/// Collects a model; every method adds one thing and returns it for changes.
class ModelBuilder {
 public:
  explicit ModelBuilder(int64_t opset = 17) {
    proto_.set_ir_version(8);
    proto_.add_opset_import()->set_version(opset);
    graph().set_name("test");
  }

  onnx::ModelProto& proto() { return proto_; }
  onnx::GraphProto& graph() { return *proto_.mutable_graph(); }

  /// An extent of -1 gets the symbol "N".
  onnx::ValueInfoProto& Input(const std::string& name, const Extents& shape,
                              int type = onnx::TensorProto::FLOAT) {
    onnx::ValueInfoProto& info = *graph().add_input();
    info.set_name(name);
    auto& tensor = *info.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(type);
    tensor.mutable_shape();
    for (int64_t e : shape) {
      auto& dim = *tensor.mutable_shape()->add_dim();
      e == -1 ? dim.set_dim_param("N") : dim.set_dim_value(e);
    }
    return info;
  }

  onnx::TensorProto& Floats(const std::string& name, const Extents& shape,
                            const std::vector<float>& values) {
    onnx::TensorProto& t = Tensor(name, shape, onnx::TensorProto::FLOAT);
    for (float v : values) t.add_float_data(v);
    return t;
  }

  onnx::TensorProto& Ints(const std::string& name, const Extents& shape, const Extents& values) {
    onnx::TensorProto& t = Tensor(name, shape, onnx::TensorProto::INT64);
    for (int64_t v : values) t.add_int64_data(v);
    return t;
  }

  onnx::TensorProto& Tensor(const std::string& name, const Extents& shape, int type) {
    onnx::TensorProto& t = *graph().add_initializer();
    t.set_name(name);
    t.set_data_type(type);
    for (int64_t e : shape) t.add_dims(e);
    return t;
  }

  onnx::NodeProto& Node(const std::string& op, const Names& inputs, const Names& outputs,
                        const std::string& name = "") {
    onnx::NodeProto& node = *graph().add_node();
    node.set_op_type(op);
    node.set_name(name);
    for (const std::string& s : inputs) node.add_input(s);
    for (const std::string& s : outputs) node.add_output(s);
    return node;
  }

  void Output(const std::string& name) { graph().add_output()->set_name(name); }

  Result<ir::Graph> Import(const ModelLocation& location = {}) const {
    return ImportOnnxModel(std::make_shared<onnx::ModelProto>(proto_), location);
  }
  Result<PartialModel> ImportPartly() const {
    return ImportOnnxModelPartly(std::make_shared<onnx::ModelProto>(proto_), {});
  }

 private:
  onnx::ModelProto proto_;
};

/// x -> Relu -> y, the model that a test then damages.
inline ModelBuilder ReluModel(int64_t opset = 17) {
  ModelBuilder model(opset);
  model.Input("x", {2, 3});
  model.Node("Relu", {"x"}, {"y"}, "relu");
  model.Output("y");
  return model;
}

}  // namespace aicf::testing
