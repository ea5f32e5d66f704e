#include "compiler/import/onnx_graph.h"

#include <algorithm>
#include <iterator>

#include "base/scanner.h"
#include "base/utf8.h"
#include "compiler/import/onnx_attribute.h"
#include "compiler/import/onnx_check.h"
#include "compiler/import/onnx_function_call.h"
#include "compiler/import/onnx_support.h"
#include "compiler/import/onnx_types.h"

namespace aicf {
namespace {

/// How deep subgraphs may lie in each other; exporters nest two or three.
constexpr int kMaxSubgraphDepth = 32;

// Every name goes into the artifact, which holds text. Names are limited because loops put further
// names in front of them.
constexpr size_t kMaxSourceNameBytes = 16384;

Status CheckName(std::string_view name) {
  if (!IsCleanText(name)) {
    return Error(Code::kBadModel, "the name ", Quote(name.substr(0, 200)),
                 " is no text: it holds a NUL or bytes that are not UTF-8");
  }
  if (name.size() <= kMaxSourceNameBytes) return OkStatus();
  return Error(Code::kUnsupported, "the name ", Quote(Abridge(name, 40)), " is longer than ",
               kMaxSourceNameBytes, " bytes");
}

}  // namespace

Result<ir::ValueId> OnnxGraphImporter::AddValue(ir::Value value) {
  AICF_RETURN_IF_ERROR(CheckName(value.name));
  const ir::ValueId id = static_cast<ir::ValueId>(graph_.values.size());
  if (!names_.emplace(value.name, id).second) {
    return Error(Code::kBadModel, "the name ", Quote(value.name), " is given to two values");
  }
  return graph_.AddValue(std::move(value));
}

Status OnnxGraphImporter::NoteGap(ImportGap::Where where, const std::string& name,
                                  const Status& status) {
  if (status.ok()) return status;
  const std::string_view what = where == ImportGap::Where::kInput         ? "input "
                                : where == ImportGap::Where::kInitializer ? "initializer "
                                                                          : "output ";
  const std::string label = StrCat(what, Quote(name));
  if (status.code() != Code::kUnsupported) return status.WithContext(label);
  const size_t place = where == ImportGap::Where::kInput ? graph_.inputs.size() : Place();
  shared_.gaps.push_back({where, place, "", label, name, status.message()});
  if (where == ImportGap::Where::kOutput || !missing_.insert(name).second) return OkStatus();
  ir::Value value;
  value.name = name;
  return AddValue(std::move(value)).status();
}

Status OnnxGraphImporter::NoteNodeGap(const onnx::NodeProto& node, const Status& status) {
  const std::string name = NodeName(node);
  const std::string label =
      StrCat(node.op_type().empty() ? "" : Quote(node.op_type()), " node ", Quote(name));
  if (status.code() != Code::kUnsupported) return status.WithContext(label);
  // The outputs of the node stay declared, so that the nodes after it can be examined too.
  shared_.gaps.push_back(
      {ImportGap::Where::kNode, Place(), QualifiedOp(node), label, name, status.message()});
  return OkStatus();
}

void OnnxGraphImporter::NoteReads(const ir::Node& node) {
  std::vector<ir::ValueId>& reads = shared_.refused_reads;
  std::ranges::copy_if(node.inputs, std::back_inserter(reads),
                       [](ir::ValueId v) { return v != ir::kNoValue; });
  for (const ir::Body& body : node.bodies) {
    for (const auto& [inner, outer] : body.captures) reads.push_back(outer);
  }
}

Status OnnxGraphImporter::AddInitializer(const onnx::TensorProto& proto) {
  AICF_ASSIGN_OR_RETURN(ir::Tensor tensor, ImportTensor(proto, shared_.source));
  ir::Value value;
  value.name = proto.name();
  value.dtype = tensor.dtype();
  value.shape = tensor.shape();
  value.shape_known = true;
  value.constant = std::move(tensor);
  return AddValue(std::move(value)).status();
}

Status OnnxGraphImporter::AddInitializers() {
  using enum ImportGap::Where;
  for (const onnx::TensorProto& t : proto_.initializer()) {
    if (t.name().empty()) return Error(Code::kBadModel, "an initializer has no name");
    AICF_RETURN_IF_ERROR(NoteGap(kInitializer, t.name(), AddInitializer(t)));
  }
  for (const auto& t : proto_.sparse_initializer()) {
    AICF_RETURN_IF_ERROR(
        NoteGap(kInitializer, t.values().name(), Error(Code::kUnsupported, "is sparse")));
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
  return Error(Code::kBadModel, "is declared as ", DTypeName(declared.dtype), " ",
               ToListString(declared.shape), " but initialized as ", DTypeName(constant.dtype), " ",
               ToListString(constant.shape));
}

Status OnnxGraphImporter::AddInput(const onnx::ValueInfoProto& info) {
  if (info.name().empty()) return Error(Code::kBadModel, "has no name");
  const auto known = names_.find(info.name());
  // Before IR version 4 every initializer is listed among the inputs too.
  if (known != names_.end() && graph_.values[known->second].is_constant()) {
    return CheckInitialized(info, graph_.values[known->second]);
  }
  if (missing_.contains(info.name())) return OkStatus();
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

Status OnnxGraphImporter::AddInputs() {
  for (const auto& info : proto_.input()) {
    AICF_RETURN_IF_ERROR(NoteGap(ImportGap::Where::kInput, info.name(), AddInput(info)));
  }
  return OkStatus();
}

Status OnnxGraphImporter::FindProducers() {
  for (int i = 0; i < proto_.node_size(); ++i) {
    for (const std::string& name : proto_.node(i).output()) {
      if (name.empty()) continue;
      const auto [it, added] = producers_.emplace(name, i);
      if (added) continue;
      return Error(Code::kBadModel, "value ", Quote(name), " is produced by node ",
                   Quote(NodeName(proto_.node(it->second))), " and by node ",
                   Quote(NodeName(proto_.node(i))));
    }
  }
  CollectReads(proto_, depth_);
  return OkStatus();
}

// Collects the names that are read. Those that subgraphs read count too: they may be of this graph.
void OnnxGraphImporter::CollectReads(const onnx::GraphProto& graph, int depth) {
  for (const auto& info : graph.output()) read_.insert(info.name());
  for (const onnx::NodeProto& node : graph.node()) {
    for (const std::string& name : node.input()) read_.insert(name);
    for (const onnx::AttributeProto& a : node.attribute()) {
      if (a.has_g() && depth < kMaxSubgraphDepth) CollectReads(a.g(), depth + 1);
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
    return Error(Code::kBadModel, "reads ", Quote(name), ", which nothing produces");
  }
  const onnx::NodeProto& node = proto_.node(producer->second);
  if (&node == user) return Error(Code::kBadModel, "reads its own output ", Quote(name));
  return Error(Code::kBadModel, "reads ", Quote(name), " before node ", Quote(NodeName(node)),
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
  if (depth_ >= kMaxSubgraphDepth)
    return Error(Code::kUnsupported, "nests more than ", kMaxSubgraphDepth, " deep");
  OnnxGraphImporter importer(attribute.g(), shared_, this);
  AICF_ASSIGN_OR_RETURN(ir::Graph graph, importer.Run());
  ir::Body body;
  body.attribute = attribute.name();
  body.graph = std::make_shared<const ir::Graph>(std::move(graph));
  body.captures = std::move(importer.captures_);
  return body;
}

// Called before the outputs of the node get their names, since a subgraph must not read what the
// node itself makes.
Status OnnxGraphImporter::ImportBodies(const onnx::NodeProto& proto, ir::Node& node) {
  for (const onnx::AttributeProto& a : proto.attribute()) {
    if (!IsBodyAttribute(node.op, a.name())) continue;
    if (!a.has_g()) return Error(Code::kBadModel, "attribute ", Quote(a.name()), " holds no graph");
    if (node.FindBody(a.name()) != nullptr) {
      return Error(Code::kBadModel, "attribute ", Quote(a.name()), " is given twice");
    }
    auto body = ImportBody(a);
    if (!body.ok()) return body.status().WithContext(StrCat("attribute ", Quote(a.name())));
    node.bodies.push_back(*std::move(body));
  }
  for (const std::string_view attribute : BodyAttributes(node.op)) {
    if (node.FindBody(attribute) == nullptr) return Error(Code::kBadModel, "has no ", attribute);
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
  if (node.outputs.empty()) return Error(Code::kBadModel, "has no outputs");
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
    return Error(Code::kBadModel, "a Constant has ", node.attrs.size(), " attributes, ",
                 node.inputs.size(), " inputs and ", node.outputs.size(),
                 " outputs, expected 1, 0 and 1");
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
    return Error(Code::kBadModel, "output ", Quote(proto.output(0)), " has no name");
  ir::Value& value = graph_.values[node.outputs[0]];
  value.dtype = tensor.dtype();
  value.shape = tensor.shape();
  value.shape_known = true;
  value.constant = std::move(tensor);
  return OkStatus();
}

Status OnnxGraphImporter::ImportNode(const onnx::NodeProto& proto, ir::Node& node) {
  AICF_RETURN_IF_ERROR(CheckNodeSupported(proto));
  AICF_ASSIGN_OR_RETURN(node.attrs, ImportAttributes(proto, shared_.source));
  if (node.op == "Constant") return ImportConstant(proto, node);
  const auto other = shared_.function_opsets.find(&proto);
  const int64_t opset = other == shared_.function_opsets.end() ? shared_.opset : other->second;
  NodeRewrite rewrite{graph_, names_, opset, std::move(node), {}};
  for (const std::string& name : proto.output()) {
    rewrite.output_used.push_back(!name.empty() && read_.contains(name));
  }
  const Status status = RewriteToNewest(rewrite);
  if (!status.ok()) {
    node = std::move(rewrite.node);  // NoteReads needs its inputs
    return status;
  }
  graph_.nodes.push_back(std::move(rewrite.node));
  return OkStatus();
}

Status OnnxGraphImporter::AddNode(int index) {
  const onnx::NodeProto& proto = proto_.node(index);
  ir::Node node;
  node.op = QualifiedOp(proto);
  node.name = NodeName(proto);
  AICF_RETURN_IF_ERROR(CheckName(node.name));
  const size_t gaps = shared_.gaps.size();
  Status status = BindInputs(proto, node);
  if (status.ok()) status = ImportBodies(proto, node);
  if (status.ok() || status.code() == Code::kUnsupported) {
    const Status bound = BindOutputs(proto, node);
    if (!bound.ok()) status = bound;
  }
  // A node whose subgraphs have gaps is left out as well; the gaps have been noted.
  if (status.ok() && shared_.gaps.size() == gaps) status = ImportNode(proto, node);
  if (!status.ok()) AICF_RETURN_IF_ERROR(NoteNodeGap(proto, status));
  if (shared_.gaps.size() > gaps && parent_ == nullptr) NoteReads(node);
  return OkStatus();
}

Status OnnxGraphImporter::AddOutputs() {
  if (proto_.output_size() == 0) return Error(Code::kBadModel, "the graph has no outputs");
  std::unordered_set<std::string> seen;
  for (const auto& info : proto_.output()) {
    AICF_ASSIGN_OR_RETURN(const ir::ValueId id, Capture(info.name()));
    if (id == ir::kNoValue)
      return Error(Code::kBadModel, "output ", Quote(info.name()), " is produced by nothing");
    if (parent_ == nullptr && !seen.insert(info.name()).second)
      return Error(Code::kBadModel, "output ", Quote(info.name()), " is listed twice");
    graph_.outputs.push_back(id);
    if (parent_ != nullptr) continue;
    AICF_RETURN_IF_ERROR(
        NoteGap(ImportGap::Where::kOutput, info.name(), CheckOutputType(info.type())));
  }
  return OkStatus();
}

Result<ir::Graph> OnnxGraphImporter::Run() {
  AICF_RETURN_IF_ERROR(CheckName(proto_.name()));
  graph_.name = proto_.name();
  AICF_RETURN_IF_ERROR(AddInitializers());
  AICF_RETURN_IF_ERROR(AddInputs());
  AICF_RETURN_IF_ERROR(FindProducers());
  for (int i = 0; i < proto_.node_size(); ++i) AICF_RETURN_IF_ERROR(AddNode(i));
  AICF_RETURN_IF_ERROR(AddOutputs());
  return std::move(graph_);
}

}  // namespace aicf
