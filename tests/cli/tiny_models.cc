#include "tests/cli/tiny_models.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace aicf::testing {
namespace {

constexpr float kWeights[4][3] = {
    {1, -2, 0.5f}, {0.25f, 1, -1}, {-0.5f, 0.75f, 2}, {1.5f, -1, 0.125f}};
constexpr float kBias[3] = {0.1f, -0.2f, 0.3f};

void AddInitializer(onnx::GraphProto* graph, const std::string& name,
                    const std::vector<int64_t>& shape, const float* values, size_t count) {
  onnx::TensorProto* tensor = graph->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(onnx::TensorProto::FLOAT);
  for (const int64_t d : shape) tensor->add_dims(d);
  tensor->set_raw_data(values, count * sizeof(float));
}

}  // namespace

onnx::NodeProto& AddNode(onnx::GraphProto& graph, const std::string& op,
                         const std::vector<std::string>& inputs,
                         const std::vector<std::string>& outputs) {
  onnx::NodeProto& node = *graph.add_node();
  node.set_op_type(op);
  node.set_name("node_" + outputs.front());
  for (const std::string& input : inputs) node.add_input(input);
  for (const std::string& output : outputs) node.add_output(output);
  return node;
}

void SetTensorInfo(onnx::ValueInfoProto& info, const std::string& name,
                   const std::vector<int64_t>& shape) {
  info.set_name(name);
  auto& tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(onnx::TensorProto::FLOAT);
  tensor.mutable_shape();
  for (const int64_t extent : shape) tensor.mutable_shape()->add_dim()->set_dim_value(extent);
}

onnx::ModelProto TinyModel() {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(13);
  onnx::GraphProto* graph = model.mutable_graph();
  graph->set_name("tiny");
  SetTensorInfo(*graph->add_input(), "x", {2, 4});
  AddInitializer(graph, "w", {4, 3}, &kWeights[0][0], 12);
  AddInitializer(graph, "b", {3}, kBias, 3);
  const float two = 2;
  AddInitializer(graph, "two", {}, &two, 1);
  onnx::TensorProto* axes = graph->add_initializer();
  axes->set_name("axes");
  axes->set_data_type(onnx::TensorProto::INT64);
  axes->add_dims(1);
  axes->add_int64_data(1);
  AddNode(*graph, "MatMul", {"x", "w"}, {"product"});
  AddNode(*graph, "Add", {"product", "b"}, {"biased"});
  AddNode(*graph, "Relu", {"biased"}, {"active"});
  AddNode(*graph, "Softmax", {"active"}, {"y"});
  AddNode(*graph, "ReduceSum", {"x", "axes"}, {"x_sum"});
  AddNode(*graph, "Mul", {"active", "two"}, {"doubled"});
  AddNode(*graph, "Sub", {"doubled", "x_sum"}, {"h"});
  SetTensorInfo(*graph->add_output(), "y", {2, 3});
  SetTensorInfo(*graph->add_output(), "h", {2, 3});
  return model;
}

void TinyReference(const float* x, double* y, double* h) {
  for (int row = 0; row < 2; ++row) {
    double active[3], sum = 0, x_sum = 0;
    for (int k = 0; k < 4; ++k) x_sum += x[row * 4 + k];
    for (int c = 0; c < 3; ++c) {
      double value = kBias[c];
      for (int k = 0; k < 4; ++k) value += static_cast<double>(x[row * 4 + k]) * kWeights[k][c];
      active[c] = std::max(value, 0.0);
      sum += std::exp(active[c]);
    }
    for (int c = 0; c < 3; ++c) {
      y[row * 3 + c] = std::exp(active[c]) / sum;
      h[row * 3 + c] = active[c] * 2 - x_sum;
    }
  }
}

std::string Serialized(const onnx::ModelProto& model) { return model.SerializeAsString(); }

std::string PutModel(const TempDir& dir, const std::string& name,
                     const std::function<void(onnx::ModelProto&)>& change) {
  onnx::ModelProto model = TinyModel();
  if (change) change(model);
  std::string path = dir / (name + ".onnx");
  PutFile(path, Serialized(model));
  return path;
}

std::string PutArtifact(const TempDir& dir, const std::string& name,
                        const std::vector<std::string>& flags) {
  std::string path = dir / name;
  std::vector<std::string> args = {PutModel(dir, "tiny"), "-o", path};
  args.insert(args.end(), flags.begin(), flags.end());
  ExpectSuccess(RunTool("aicf-compile", args));
  return path;
}

void PutNpy(const std::string& path, const std::string& shape, const std::vector<float>& values) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }";
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(header.size() & 0xff);
  file += static_cast<char>(header.size() >> 8);
  file += header;
  file.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  PutFile(path, file);
}

void PutTinySample(const TempDir& dir) {
  double y[6], h[6];
  TinyReference(kTinyInput.data(), y, h);
  PutNpy(dir / "x.npy", "(2, 4)", kTinyInput);
  PutNpy(dir / "y.npy", "(2, 3)", std::vector<float>(y, y + 6));
  PutNpy(dir / "h.npy", "(2, 3)", std::vector<float>(h, h + 6));
}

}  // namespace aicf::testing
