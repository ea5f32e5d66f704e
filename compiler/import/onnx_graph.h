/// GraphProto -> ir::Graph: names become values, nodes go through the rewrites.
#pragma once

#include <onnx/onnx.pb.h>

#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/import/onnx_functions.h"
#include "compiler/import/onnx_gaps.h"
#include "compiler/import/onnx_rewrites.h"
#include "compiler/import/onnx_tensor.h"

namespace aicf {

/// What the importers of a model's graph and of its subgraphs share.
struct OnnxImport {
  int64_t opset = 0;  ///< of ONNX's own ops
  FunctionOpsets function_opsets;
  TensorSource source;
  std::vector<ImportGap> gaps;
  std::vector<ir::ValueId> refused_reads;  ///< read by nodes of the outermost graph that have gaps
};

class OnnxGraphImporter {
 public:
  /// `parent`: the importer of the graph around a subgraph, whose values it may read.
  OnnxGraphImporter(const onnx::GraphProto& proto, OnnxImport& shared,
                    OnnxGraphImporter* parent = nullptr)
      : proto_(proto),
        shared_(shared),
        parent_(parent),
        depth_(parent == nullptr ? 0 : parent->depth_ + 1) {}

  /// Imports the graph. What is not supported is left out and noted in shared.gaps: the outputs of
  /// such nodes, and such inputs and initializers, are then values that nothing makes. REQUIRES:
  /// called once.
  Result<ir::Graph> Run();

 private:
  Status AddInitializers();
  Status AddInitializer(const onnx::TensorProto& proto);
  Status AddInputs();
  Status AddInput(const onnx::ValueInfoProto& info);
  Status CheckInitialized(const onnx::ValueInfoProto& info, const ir::Value& constant);
  Status FindProducers();
  Status AddNode(int index);
  Status AddOutputs();
  Status NoteGap(ImportGap::Where where, const std::string& name, const Status& status);
  Status NoteNodeGap(const onnx::NodeProto& node, const Status& status);
  void NoteReads(const ir::Node& node);
  /// Nodes of the outermost graph so far.
  size_t Place() const { return parent_ == nullptr ? graph_.nodes.size() : parent_->Place(); }

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

  const onnx::GraphProto& proto_;
  OnnxImport& shared_;
  OnnxGraphImporter* const parent_;
  const int depth_;  ///< of nested subgraphs
  ir::Graph graph_;
  NameTable names_;
  std::unordered_map<std::string, int> producers_;  ///< node by output name
  std::unordered_set<std::string> read_;     ///< names that a node or the graph's caller reads
  std::unordered_set<std::string> missing_;  ///< inputs and initializers that are not supported
  std::vector<std::pair<ir::ValueId, ir::ValueId>> captures_;  ///< as in ir::Body
};

}  // namespace aicf
