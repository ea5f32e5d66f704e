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
  /// `parent`: the importer of the graph around a subgraph, whose values it may read.
  OnnxGraphImporter(const onnx::GraphProto& proto, int64_t opset, TensorSource source,
                    OnnxGraphImporter* parent = nullptr)
      : proto_(proto),
        opset_(opset),
        source_(std::move(source)),
        parent_(parent),
        depth_(parent == nullptr ? 0 : parent->depth_ + 1) {}

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
  Result<ir::ValueId> Lookup(const std::string& name, const onnx::NodeProto* user);
  /// The value of that name here or in a graph around this one; kNoValue when there is none yet.
  Result<ir::ValueId> Capture(const std::string& name);
  void CollectReads(const onnx::GraphProto& graph, int depth);
  Status ImportBodies(const onnx::NodeProto& proto, ir::Node& node);
  Result<ir::Body> ImportBody(const onnx::AttributeProto& attribute);
  Status BindInputs(const onnx::NodeProto& proto, ir::Node& node);
  Status BindOutputs(const onnx::NodeProto& proto, ir::Node& node);
  Status ImportConstant(const onnx::NodeProto& proto, ir::Node& node);
  Status ImportNode(const onnx::NodeProto& proto, ir::Node& node);
  Result<ir::ValueId> AddValue(ir::Value value);
  Status Unsupported() const;

  const onnx::GraphProto& proto_;
  const int64_t opset_;
  const TensorSource source_;
  OnnxGraphImporter* const parent_;
  const int depth_;  ///< of nested subgraphs
  ir::Graph graph_;
  NameTable names_;
  std::unordered_map<std::string, int> producers_;  ///< node by output name
  std::unordered_set<std::string> read_;  ///< names that a node or the graph's caller reads
  std::vector<std::string> unsupported_;  ///< one sentence per unsupported node
  std::vector<std::pair<ir::ValueId, ir::ValueId>> captures_;  ///< as in ir::Body
};

}  // namespace aicf
