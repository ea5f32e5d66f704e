#include "tests/cli/small_cnn.h"

#include <cstdint>
#include <numeric>

namespace aicf::testing {
namespace {

std::vector<float> Values(size_t count, uint32_t seed, float scale) {
  std::vector<float> values(count);
  for (float& v : values) {
    seed = seed * 1664525u + 1013904223u;
    v = scale * (static_cast<float>(seed >> 8) / 8388608.0f - 1);
  }
  return values;
}

class Builder {
 public:
  explicit Builder(onnx::GraphProto* graph) : graph_(graph) {}

  void Tensor(onnx::ValueInfoProto* info, const std::string& name,
              const std::vector<int64_t>& shape) {
    info->set_name(name);
    auto* type = info->mutable_type()->mutable_tensor_type();
    type->set_elem_type(onnx::TensorProto::FLOAT);
    for (const int64_t d : shape) type->mutable_shape()->add_dim()->set_dim_value(d);
  }
  void Weights(const std::string& name, const std::vector<int64_t>& shape, uint32_t seed) {
    onnx::TensorProto* tensor = graph_->add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(onnx::TensorProto::FLOAT);
    for (const int64_t d : shape) tensor->add_dims(d);
    const auto count = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
    const std::vector<float> values = Values(static_cast<size_t>(count), seed, 0.5f);
    tensor->set_raw_data(values.data(), values.size() * sizeof(float));
  }
  onnx::NodeProto* Node(const std::string& op, const std::string& name,
                        const std::vector<std::string>& inputs, const std::string& output) {
    onnx::NodeProto* node = graph_->add_node();
    node->set_op_type(op);
    node->set_name(name);
    for (const std::string& input : inputs) node->add_input(input);
    node->add_output(output);
    return node;
  }
  static void Ints(onnx::NodeProto* node, const std::string& name,
                   const std::vector<int64_t>& values) {
    onnx::AttributeProto* attribute = node->add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto::INTS);
    for (const int64_t v : values) attribute->add_ints(v);
  }

 private:
  onnx::GraphProto* graph_;
};

}  // namespace

onnx::ModelProto SmallCnn() {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(13);
  onnx::GraphProto* graph = model.mutable_graph();
  graph->set_name("small_cnn");
  Builder b(graph);
  b.Tensor(graph->add_input(), "image", {1, 3, 16, 16});
  b.Weights("w1", {16, 3, 3, 3}, 1);
  b.Weights("b1", {16}, 2);
  b.Weights("w2", {24, 16, 3, 3}, 3);
  b.Weights("b2", {24}, 4);
  b.Weights("w3", {24, 10}, 5);
  b.Weights("b3", {10}, 6);
  Builder::Ints(b.Node("Conv", "conv1", {"image", "w1", "b1"}, "c1"), "pads", {1, 1, 1, 1});
  b.Node("Relu", "relu1", {"c1"}, "r1");
  onnx::NodeProto* pool = b.Node("MaxPool", "pool1", {"r1"}, "p1");
  Builder::Ints(pool, "kernel_shape", {2, 2});
  Builder::Ints(pool, "strides", {2, 2});
  Builder::Ints(b.Node("Conv", "conv2", {"p1", "w2", "b2"}, "c2"), "pads", {1, 1, 1, 1});
  b.Node("Relu", "relu2", {"c2"}, "r2");
  b.Node("GlobalAveragePool", "pool2", {"r2"}, "p2");
  b.Node("Flatten", "flat", {"p2"}, "f");
  b.Node("MatMul", "dense", {"f", "w3"}, "d");
  b.Node("Add", "bias", {"d", "b3"}, "logits");
  b.Node("Softmax", "softmax", {"logits"}, "scores");
  b.Tensor(graph->add_output(), "scores", {1, 10});
  return model;
}

std::vector<float> SmallCnnInput() { return Values(768, 99, 1); }

}  // namespace aicf::testing
