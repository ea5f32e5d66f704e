/// GraphProto -> ir::Graph: names become values, nodes go through the rewrites.
#pragma once

#include <onnx/onnx.pb.h>

#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/import/onnx_rewrites.h"
#include "compiler/import/onnx_tensor.h"

namespace aicf {

class OnnxGraphImporter {
 public:
  OnnxGraphImporter(const onnx::GraphProto& proto, int64_t opset, TensorSource source)
      : proto_(proto), opset_(opset), source_(std::move(source)) {}

  /// REQUIRES: called once.
  Result<ir::Graph> Run();

 private:
  Status AddInitializers();
  Status AddInput(const onnx::ValueInfoProto& info);
  Status CheckInitialized(const onnx::ValueInfoProto& info, const ir::Value& constant);
  Status FindProducers();
  Status AddNode(int index);
  Status AddOutputs();

  /// What an error calls a node: its name, or op and first output.
  std::string NameOf(const onnx::NodeProto& node) const;
  Status CheckNodeSupported(const onnx::NodeProto& node) const;
  Result<ir::ValueId> Lookup(const std::string& name, const onnx::NodeProto& user) const;
  Status BindInputs(const onnx::NodeProto& proto, ir::Node& node) const;
  Status BindOutputs(const onnx::NodeProto& proto, ir::Node& node);
  Status ImportConstant(const onnx::NodeProto& proto, ir::Node& node);
  Status ImportNode(const onnx::NodeProto& proto, ir::Node& node);
  Result<ir::ValueId> AddValue(ir::Value value);
  Status Unsupported() const;

  const onnx::GraphProto& proto_;
  const int64_t opset_;
  const TensorSource source_;
  ir::Graph graph_;
  NameTable names_;
  std::unordered_map<std::string, int> producers_;  ///< node by output name
  std::unordered_set<std::string> read_;  ///< names that a node or the graph's caller reads
  std::vector<std::string> unsupported_;  ///< one sentence per unsupported node
};

}  // namespace aicf
