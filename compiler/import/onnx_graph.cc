#include "compiler/import/onnx_graph.h"

#include <algorithm>

#include "base/scanner.h"
#include "compiler/import/onnx_attribute.h"
#include "compiler/import/onnx_check.h"
#include "compiler/import/onnx_dtype.h"
#include "compiler/import/onnx_support.h"

namespace aicf {
namespace {

template <class... Pieces>
Status Bad(const Pieces&... pieces) {
  return Error(Code::kBadModel, pieces...);
}

/// Subgraphs inside subgraphs; exporters nest two or three.
constexpr int kMaxDepth = 32;

// A graph input's dtype and the extents it declares; -1 for those left open.
Result<ir::Value> DeclaredValue(const onnx::ValueInfoProto& info) {
  if (!info.has_type()) return Bad("has no type");
  if (!info.type().has_tensor_type()) return Error(Code::kUnsupported, "is not a tensor");
  const auto& type = info.type().tensor_type();
  ir::Value value;
  value.name = info.name();
  AICF_ASSIGN_OR_RETURN(value.dtype, DTypeOfOnnx(type.elem_type()));
  if (!type.has_shape()) return value;
  if (type.shape().dim_size() > kMaxRank) {
    return Error(Code::kUnsupported, "has rank ", type.shape().dim_size(), ", at most ", kMaxRank,
                 " is supported");
  }
  for (const auto& dim : type.shape().dim()) {
    const bool fixed = dim.has_dim_value();
    if (fixed && dim.dim_value() < 0) return Bad("has the extent ", dim.dim_value());
    value.shape.push_back(fixed ? dim.dim_value() : -1);
    value.symbols.push_back(fixed ? std::string() : dim.dim_param());
  }
  value.shape_known = std::ranges::find(value.shape, -1) == value.shape.end();
  if (value.shape_known && !ElementCount(value.shape)) {
    return Bad("has the impossible shape ", ToString(value.shape));
  }
  return value;
}

}  // namespace

std::string OnnxGraphImporter::NameOf(const onnx::NodeProto& node) const {
  if (!node.name().empty()) return node.name();
  return StrCat(node.op_type(), ":", node.output_size() > 0 ? node.output(0) : "");
}

Result<ir::ValueId> OnnxGraphImporter::AddValue(ir::Value value) {
  const ir::ValueId id = static_cast<ir::ValueId>(graph_.values.size());
  if (!names_.emplace(value.name, id).second) {
    return Bad("the name ", Quote(value.name), " is given to two values");
  }
  return graph_.AddValue(std::move(value));
}

Status OnnxGraphImporter::AddInitializers() {
  if (proto_.sparse_initializer_size() > 0) {
    return Error(Code::kUnsupported, "sparse initializer ",
                 Quote(proto_.sparse_initializer(0).values().name()));
  }
  for (const onnx::TensorProto& t : proto_.initializer()) {
    if (t.name().empty()) return Bad("an initializer has no name");
    auto tensor = ImportTensor(t, source_);
    if (!tensor.ok()) return tensor.status().WithContext(StrCat("initializer ", Quote(t.name())));
    ir::Value value;
    value.name = t.name();
    value.dtype = tensor->dtype();
    value.shape = tensor->shape();
    value.shape_known = true;
    value.constant = *std::move(tensor);
    AICF_RETURN_IF_ERROR(AddValue(std::move(value)).status());
  }
  return OkStatus();
}

Status OnnxGraphImporter::CheckInitialized(const onnx::ValueInfoProto& info,
                                           const ir::Value& constant) {
  AICF_ASSIGN_OR_RETURN(const ir::Value declared, DeclaredValue(info));
  bool agrees = declared.dtype == constant.dtype;
  const bool has_rank = info.type().tensor_type().has_shape();
  if (has_rank) agrees = agrees && declared.shape.rank() == constant.shape.rank();
  for (int i = 0; agrees && i < declared.shape.rank(); ++i) {
    agrees = declared.shape[i] < 0 || declared.shape[i] == constant.shape[i];
  }
  if (agrees) return OkStatus();
  return Bad("is declared as ", DTypeName(declared.dtype), " ", ToListString(declared.shape),
             " but initialized as ", DTypeName(constant.dtype), " ", ToListString(constant.shape));
}

Status OnnxGraphImporter::AddInput(const onnx::ValueInfoProto& info) {
  if (info.name().empty()) return Bad("has no name");
  const auto known = names_.find(info.name());
  // Before IR version 4 every initializer is listed among the inputs too.
  if (known != names_.end() && graph_.values[known->second].is_constant()) {
    return CheckInitialized(info, graph_.values[known->second]);
  }
  ir::Value value;
  value.name = info.name();
  // A formal input gets its type from what is passed, when the subgraph is expanded.
  if (parent_ == nullptr) {
    AICF_ASSIGN_OR_RETURN(value, DeclaredValue(info));
  }
  AICF_ASSIGN_OR_RETURN(const ir::ValueId id, AddValue(std::move(value)));
  graph_.inputs.push_back(id);
  return OkStatus();
}

Status OnnxGraphImporter::FindProducers() {
  for (int i = 0; i < proto_.node_size(); ++i) {
    for (const std::string& name : proto_.node(i).output()) {
      if (name.empty()) continue;
      const auto [it, added] = producers_.emplace(name, i);
      if (added) continue;
      return Bad("value ", Quote(name), " is produced by node ",
                 Quote(NameOf(proto_.node(it->second))), " and by node ",
                 Quote(NameOf(proto_.node(i))));
    }
  }
  CollectReads(proto_, depth_);
  return OkStatus();
}

// Names that subgraphs read count too: they may be of this graph.
void OnnxGraphImporter::CollectReads(const onnx::GraphProto& graph, int depth) {
  for (const auto& info : graph.output()) read_.insert(info.name());
  for (const onnx::NodeProto& node : graph.node()) {
    for (const std::string& name : node.input()) read_.insert(name);
    for (const onnx::AttributeProto& a : node.attribute()) {
      if (a.has_g() && depth < kMaxDepth) CollectReads(a.g(), depth + 1);
    }
  }
}

Result<ir::ValueId> OnnxGraphImporter::Capture(const std::string& name) {
  const auto it = names_.find(name);
  if (it != names_.end()) return it->second;
  if (parent_ == nullptr || producers_.contains(name)) return ir::kNoValue;
  AICF_ASSIGN_OR_RETURN(const ir::ValueId outside, parent_->Capture(name));
  if (outside == ir::kNoValue) return outside;
  ir::Value value;
  value.name = name;
  AICF_ASSIGN_OR_RETURN(const ir::ValueId inside, AddValue(std::move(value)));
  captures_.emplace_back(inside, outside);
  return inside;
}

Result<ir::ValueId> OnnxGraphImporter::Lookup(const std::string& name,
                                              const onnx::NodeProto* user) {
  AICF_ASSIGN_OR_RETURN(const ir::ValueId id, Capture(name));
  if (id != ir::kNoValue) return id;
  const auto producer = producers_.find(name);
  if (producer == producers_.end()) {
    return Bad("reads ", Quote(name), ", which nothing produces");
  }
  const onnx::NodeProto& node = proto_.node(producer->second);
  if (&node == user) return Bad("reads its own output ", Quote(name));
  return Bad("reads ", Quote(name), " before node ", Quote(NameOf(node)),
             " produces it (nodes must be in topological order, without cycles)");
}

Status OnnxGraphImporter::BindInputs(const onnx::NodeProto& proto, ir::Node& node) {
  for (const std::string& name : proto.input()) {
    ir::ValueId id = ir::kNoValue;
    if (!name.empty()) {
      AICF_ASSIGN_OR_RETURN(id, Lookup(name, &proto));
    }
    node.inputs.push_back(id);
  }
  return OkStatus();
}

Result<ir::Body> OnnxGraphImporter::ImportBody(const onnx::AttributeProto& attribute) {
  if (depth_ >= kMaxDepth) return Error(Code::kUnsupported, "nests more than ", kMaxDepth, " deep");
  OnnxGraphImporter importer(attribute.g(), opset_, source_, this);
  AICF_ASSIGN_OR_RETURN(ir::Graph graph, importer.Run());
  for (std::string& sentence : importer.unsupported_) unsupported_.push_back(std::move(sentence));
  ir::Body body;
  body.attribute = attribute.name();
  body.graph = std::make_shared<const ir::Graph>(std::move(graph));
  body.captures = std::move(importer.captures_);
  return body;
}

// Before the node's outputs get their names: a subgraph must not read what the node itself makes.
Status OnnxGraphImporter::ImportBodies(const onnx::NodeProto& proto, ir::Node& node) {
  for (const onnx::AttributeProto& a : proto.attribute()) {
    if (!IsBodyAttribute(node.op, a.name())) continue;
    if (!a.has_g()) return Bad("attribute ", Quote(a.name()), " holds no graph");
    if (node.FindBody(a.name()) != nullptr) {
      return Bad("attribute ", Quote(a.name()), " is given twice");
    }
    auto body = ImportBody(a);
    if (!body.ok()) return body.status().WithContext(StrCat("attribute ", Quote(a.name())));
    node.bodies.push_back(*std::move(body));
  }
  for (const std::string_view attribute : BodyAttributes(node.op)) {
    if (node.FindBody(attribute) == nullptr) return Bad("has no ", attribute);
  }
  return OkStatus();
}

Status OnnxGraphImporter::BindOutputs(const onnx::NodeProto& proto, ir::Node& node) {
  for (const std::string& name : proto.output()) {
    ir::ValueId id = ir::kNoValue;
    if (!name.empty()) {
      ir::Value value;
      value.name = name;
      AICF_ASSIGN_OR_RETURN(id, AddValue(std::move(value)));
    }
    node.outputs.push_back(id);
  }
  if (node.outputs.empty()) return Bad("has no outputs");
  return OkStatus();
}

Status OnnxGraphImporter::CheckNodeSupported(const onnx::NodeProto& node) const {
  const std::string op = QualifiedOp(node);
  if (CanImport(op)) return OkStatus();
  if (const std::string_view why = WhyExcluded(op); !why.empty()) {
    return Error(Code::kUnsupported, "the op ", why);
  }
  if (IsDefaultDomain(node.domain())) return Error(Code::kUnsupported, "the op is not supported");
  return Error(Code::kUnsupported, "op ", Quote(node.op_type()), " of domain ",
               Quote(node.domain()), " is not supported");
}

Status OnnxGraphImporter::ImportConstant(const onnx::NodeProto& proto, ir::Node& node) {
  if (node.attrs.size() != 1 || !node.inputs.empty() || node.outputs.size() != 1) {
    return Bad("a Constant has ", node.attrs.size(), " attributes, ", node.inputs.size(),
               " inputs and ", node.outputs.size(), " outputs, expected 1, 0 and 1");
  }
  const ir::AttrValue& given = node.attrs.begin()->second;
  ir::Tensor tensor;
  const auto make = [&](DType dtype, auto values, bool scalar) {
    using T = typename decltype(values)::value_type;
    const Dims shape = scalar ? Dims() : Dims{static_cast<int64_t>(values.size())};
    tensor = ir::Tensor::FromValues<T>(dtype, shape, std::span<const T>(values));
  };
  if (const auto* t = std::get_if<ir::Tensor>(&given)) tensor = *t;
  if (const auto* v = std::get_if<int64_t>(&given)) make(DType::kI64, std::vector{*v}, true);
  if (const auto* v = std::get_if<double>(&given)) {
    make(DType::kF32, std::vector{static_cast<float>(*v)}, true);
  }
  if (const auto* v = std::get_if<std::vector<int64_t>>(&given)) make(DType::kI64, *v, false);
  if (const auto* v = std::get_if<std::vector<double>>(&given)) {
    make(DType::kF32, std::vector<float>(v->begin(), v->end()), false);
  }
  if (!tensor.has_data()) return Error(Code::kUnsupported, "a constant of strings");
  if (node.outputs[0] == ir::kNoValue)
    return Bad("output ", Quote(proto.output(0)), " has no name");
  ir::Value& value = graph_.values[node.outputs[0]];
  value.dtype = tensor.dtype();
  value.shape = tensor.shape();
  value.shape_known = true;
  value.constant = std::move(tensor);
  return OkStatus();
}

Status OnnxGraphImporter::ImportNode(const onnx::NodeProto& proto, ir::Node& node) {
  AICF_RETURN_IF_ERROR(CheckNodeSupported(proto));
  AICF_ASSIGN_OR_RETURN(node.attrs, ImportAttributes(proto, source_));
  if (node.op == "Constant") return ImportConstant(proto, node);
  NodeRewrite rewrite{graph_, names_, opset_, std::move(node), {}};
  for (const std::string& name : proto.output()) {
    rewrite.output_used.push_back(!name.empty() && read_.contains(name));
  }
  AICF_RETURN_IF_ERROR(RewriteToNewest(rewrite));
  graph_.nodes.push_back(std::move(rewrite.node));
  return OkStatus();
}

Status OnnxGraphImporter::AddNode(int index) {
  const onnx::NodeProto& proto = proto_.node(index);
  ir::Node node;
  node.op = QualifiedOp(proto);
  node.name = NameOf(proto);
  Status status = BindInputs(proto, node);
  if (status.ok()) status = ImportBodies(proto, node);
  if (status.ok()) status = BindOutputs(proto, node);
  if (status.ok()) status = ImportNode(proto, node);
  if (status.ok()) return status;
  status = status.WithContext(StrCat(proto.op_type().empty() ? "" : Quote(proto.op_type()),
                                     " node ", Quote(NameOf(proto))));
  if (status.code() != Code::kUnsupported) return status;
  // Its outputs stay declared, so that the nodes after it can be examined too.
  unsupported_.push_back(status.message());
  return OkStatus();
}

Status OnnxGraphImporter::AddOutputs() {
  if (proto_.output_size() == 0) return Bad("the graph has no outputs");
  std::unordered_set<std::string> seen;
  for (const auto& info : proto_.output()) {
    AICF_ASSIGN_OR_RETURN(const ir::ValueId id, Capture(info.name()));
    if (id == ir::kNoValue) return Bad("output ", Quote(info.name()), " is produced by nothing");
    if (parent_ == nullptr && !seen.insert(info.name()).second)
      return Bad("output ", Quote(info.name()), " is listed twice");
    graph_.outputs.push_back(id);
  }
  return OkStatus();
}

Status OnnxGraphImporter::Unsupported() const {
  if (unsupported_.size() == 1) return Status(Code::kUnsupported, unsupported_[0]);
  // Every node up to a number that a person still reads.
  constexpr size_t kListed = 100;
  std::string list;
  for (size_t i = 0; i < unsupported_.size() && i < kListed; ++i) {
    list += StrCat(i > 0 ? "; " : "", unsupported_[i]);
  }
  if (unsupported_.size() > kListed)
    list += StrCat("; and ", unsupported_.size() - kListed, " more");
  return Error(Code::kUnsupported, unsupported_.size(), " nodes are not supported: ", list);
}

Result<ir::Graph> OnnxGraphImporter::Run() {
  graph_.name = proto_.name();
  AICF_RETURN_IF_ERROR(AddInitializers());
  for (const auto& info : proto_.input()) {
    const Status status = AddInput(info);
    if (!status.ok()) return status.WithContext(StrCat("input ", Quote(info.name())));
  }
  AICF_RETURN_IF_ERROR(FindProducers());
  for (int i = 0; i < proto_.node_size(); ++i) AICF_RETURN_IF_ERROR(AddNode(i));
  AICF_RETURN_IF_ERROR(AddOutputs());
  // The outermost importer reports what all of them met.
  if (parent_ == nullptr && !unsupported_.empty()) return Unsupported();
  return std::move(graph_);
}

}  // namespace aicf
