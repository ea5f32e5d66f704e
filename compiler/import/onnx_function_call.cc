#include "compiler/import/onnx_function_call.h"

#include "base/scanner.h"
#include "compiler/import/onnx_functions.h"
#include "compiler/import/onnx_types.h"

namespace aicf {
namespace {

using onnx::AttributeProto;
using onnx::FunctionProto;
using onnx::GraphProto;
using onnx::NodeProto;

}  // namespace

std::string NodeName(const NodeProto& node) {
  if (!node.name().empty()) return node.name();
  return StrCat(node.op_type(), ":", node.output_size() > 0 ? node.output(0) : "");
}

void UniqueNames::Collect(const GraphProto& graph) {
  for (const auto& info : graph.input()) used_.insert(info.name());
  for (const auto& tensor : graph.initializer()) used_.insert(tensor.name());
  for (const NodeProto& node : graph.node()) {
    used_.insert(node.output().begin(), node.output().end());
    for (const AttributeProto& a : node.attribute()) {
      if (a.has_g()) Collect(a.g());
    }
  }
}

std::string UniqueNames::Prefix(const NodeProto& call) {
  const std::string name = NodeName(call);
  const int count = calls_[name]++;
  return count == 0 ? name : StrCat(name, ".", count);
}

std::string UniqueNames::Fresh(const std::string& base) {
  std::string name = base;
  for (int i = 1; !used_.insert(name).second; ++i) name = StrCat(base, ".", i);
  return name;
}

const std::string* FunctionCall::Scope::Find(const std::string& name) const {
  for (const Scope* s = this; s != nullptr; s = s->parent) {
    const auto it = s->names.find(name);
    if (it != s->names.end()) return &it->second;
  }
  return nullptr;
}

FunctionCall::FunctionCall(const NodeProto& call, const FunctionProto& function, UniqueNames& names,
                           uint64_t& bytes_left)
    : call_(call),
      function_(function),
      names_(names),
      bytes_left_(bytes_left),
      prefix_(names.Prefix(call)) {}

Status FunctionCall::Spend(uint64_t bytes) {
  if (bytes <= bytes_left_) {
    bytes_left_ -= bytes;
    return OkStatus();
  }
  return Error(Code::kResource, "the names and attributes that calls copy take more than ",
               kMaxCopiedBytes, " bytes");
}

Status FunctionCall::Make(NodeList& out) {
  AICF_ASSIGN_OR_RETURN(defaults_, DefaultAttributes(function_));
  AICF_RETURN_IF_ERROR(BindSignature());
  for (const NodeProto& node : function_.node()) {
    NodeProto& copy = *out.Add();
    copy = node;
    const Status status = Rename(copy, top_);
    if (!status.ok()) return status.WithContext(StrCat("node ", Quote(NodeName(node))));
  }
  return ForwardOutputs(out);
}

Status FunctionCall::BindSignature() {
  if (call_.input_size() > function_.input_size() ||
      call_.output_size() > function_.output_size()) {
    return Error(Code::kBadModel, "has ", call_.input_size(), " inputs and ", call_.output_size(),
                 " outputs, the function ", function_.input_size(), " and ",
                 function_.output_size());
  }
  for (int i = 0; i < function_.input_size(); ++i) {
    const bool given = i < call_.input_size();
    const bool added = top_.names.emplace(function_.input(i), given ? call_.input(i) : "").second;
    if (!added)
      return Error(Code::kBadModel, "the function has two inputs ", Quote(function_.input(i)));
  }
  for (int i = 0; i < call_.output_size(); ++i) {
    if (!call_.output(i).empty()) results_.emplace(function_.output(i), call_.output(i));
  }
  return OkStatus();
}

// Adds an Identity for each result that no node makes under its own name: an input that is passed
// through, or a value that is two results.
Status FunctionCall::ForwardOutputs(NodeList& out) {
  for (int i = 0; i < call_.output_size(); ++i) {
    if (call_.output(i).empty()) continue;
    const std::string* source = top_.Find(function_.output(i));
    if (source == nullptr || source->empty()) {
      return Error(Code::kBadModel, "the function does not make its output ",
                   Quote(function_.output(i)));
    }
    if (*source == call_.output(i)) continue;
    NodeProto& node = *out.Add();
    node.set_op_type("Identity");
    node.set_name(StrCat(prefix_, "/", function_.output(i)));
    node.add_input(*source);
    node.add_output(call_.output(i));
  }
  return OkStatus();
}

Status FunctionCall::Define(std::string& name, Scope& scope) {
  const auto result = &scope == &top_ ? results_.find(name) : results_.end();
  const std::string fresh =
      result != results_.end() ? result->second : names_.Fresh(StrCat(prefix_, "/", name));
  if (!scope.names.emplace(name, fresh).second)
    return Error(Code::kBadModel, "makes ", Quote(name), " again");
  name = fresh;
  return OkStatus();
}

Status FunctionCall::Resolve(std::string& name, const Scope& scope) {
  if (name.empty()) return OkStatus();
  const std::string* known = scope.Find(name);
  if (known == nullptr) {
    return Error(Code::kBadModel, "reads ", Quote(name),
                 ", which nothing before it in the function makes");
  }
  name = *known;
  return OkStatus();
}

Status FunctionCall::Rename(NodeProto& node, Scope& scope) {
  AICF_RETURN_IF_ERROR(Spend(prefix_.size() * static_cast<uint64_t>(1 + node.output_size())));
  node.set_name(StrCat(prefix_, "/", node.name().empty() ? node.op_type() : node.name()));
  for (std::string& name : *node.mutable_input()) AICF_RETURN_IF_ERROR(Resolve(name, scope));
  AICF_RETURN_IF_ERROR(ReplaceReferences(node));
  for (AttributeProto& a : *node.mutable_attribute()) {
    if (a.has_g()) AICF_RETURN_IF_ERROR(Rename(*a.mutable_g(), scope));
  }
  for (std::string& name : *node.mutable_output()) {
    if (!name.empty()) AICF_RETURN_IF_ERROR(Define(name, scope));
  }
  return OkStatus();
}

Status FunctionCall::Rename(GraphProto& graph, const Scope& around) {
  Scope scope{&around, {}};
  for (auto& info : *graph.mutable_input()) {
    AICF_RETURN_IF_ERROR(Define(*info.mutable_name(), scope));
  }
  for (onnx::TensorProto& tensor : *graph.mutable_initializer()) {
    AICF_RETURN_IF_ERROR(Define(*tensor.mutable_name(), scope));
  }
  for (auto& sparse : *graph.mutable_sparse_initializer()) {
    AICF_RETURN_IF_ERROR(Define(*sparse.mutable_values()->mutable_name(), scope));
  }
  for (NodeProto& node : *graph.mutable_node()) AICF_RETURN_IF_ERROR(Rename(node, scope));
  for (auto& info : *graph.mutable_output()) {
    AICF_RETURN_IF_ERROR(Resolve(*info.mutable_name(), scope));
  }
  graph.clear_value_info();
  return OkStatus();
}

// Replaces attributes that refer to one of the function's: by what the call gives, else by the
// function's default. Without either they are removed, so that the op's own default applies.
Status FunctionCall::ReplaceReferences(NodeProto& node) {
  google::protobuf::RepeatedPtrField<AttributeProto> out;
  for (AttributeProto& a : *node.mutable_attribute()) {
    if (a.ref_attr_name().empty()) {
      *out.Add() = std::move(a);
      continue;
    }
    AICF_ASSIGN_OR_RETURN(const AttributeProto* given, Given(a.ref_attr_name()));
    if (given == nullptr) continue;
    AICF_RETURN_IF_ERROR(Spend(given->ByteSizeLong()));
    AttributeProto& value = *out.Add();
    value = *given;
    value.set_name(a.name());
  }
  node.mutable_attribute()->Swap(&out);
  return OkStatus();
}

// The value of one of the function's attributes; nullptr where the call does not give it and it has
// no default.
Result<const AttributeProto*> FunctionCall::Given(const std::string& name) {
  const AttributeProto* found = nullptr;
  const auto by_default = defaults_.find(name);
  if (by_default != defaults_.end()) found = &by_default->second;
  for (const AttributeProto& a : call_.attribute()) {
    if (a.name() == name) found = &a;
  }
  if (found == nullptr) return found;
  if (!found->ref_attr_name().empty()) {
    return Error(Code::kBadModel, "attribute ", Quote(name), ": refers to a function's attribute");
  }
  // The names in the subgraph would be those of the caller, not of the function.
  if (found->has_g() || found->graphs_size() > 0) {
    return Error(Code::kUnsupported, "attribute ", Quote(name), " passes a subgraph to a function");
  }
  return found;
}

}  // namespace aicf
