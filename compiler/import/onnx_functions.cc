#include "compiler/import/onnx_functions.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "base/scanner.h"
#include "compiler/import/onnx_check.h"
#include "compiler/import/onnx_types.h"

namespace aicf {
namespace {

constexpr int kMaxCallDepth = 100;

// Fields that are newer than the schema from which the parser is made. The parser keeps their bytes
// as unknown fields.
constexpr int kNodeOverload = 8;
constexpr int kFunctionDefaults = 11;
constexpr int kFunctionOverload = 13;

std::vector<std::string> LaterField(const std::string& unknown, int number) {
  using google::protobuf::internal::WireFormatLite;
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const uint8_t*>(unknown.data()),
                                            static_cast<int>(unknown.size()));
  std::vector<std::string> out;
  while (const uint32_t tag = in.ReadTag()) {
    if (tag != WireFormatLite::MakeTag(number, WireFormatLite::WIRETYPE_LENGTH_DELIMITED)) {
      if (!WireFormatLite::SkipField(&in, tag)) break;
    } else if (!WireFormatLite::ReadBytes(&in, &out.emplace_back())) {
      break;
    }
  }
  return out;
}

std::string Overload(const std::string& unknown, int number) {
  const std::vector<std::string> given = LaterField(unknown, number);
  return given.empty() ? "" : given.back();
}

std::string PlainDomain(const std::string& domain) { return IsDefaultDomain(domain) ? "" : domain; }

void ForEachNode(const NodeList& nodes, const std::function<void(const onnx::NodeProto&)>& visit) {
  for (const onnx::NodeProto& node : nodes) {
    visit(node);
    for (const onnx::AttributeProto& a : node.attribute()) {
      if (a.has_g()) ForEachNode(a.g().node(), visit);
      for (const onnx::GraphProto& g : a.graphs()) ForEachNode(g.node(), visit);
    }
  }
}

// The size of a function once everything that it calls is inlined.
struct Size {
  uint64_t nodes = 0, bytes = 0;
  int depth = 0;  // nesting of calls; 0: not known, in a circle of calls

  // Saturates: where each function calls another one twice, a hundred levels overflow 64 bits.
  void Add(const Size& callee) {
    constexpr uint64_t kLimit = uint64_t{1} << 60;
    nodes = std::min(nodes + callee.nodes, kLimit);
    bytes = std::min(bytes + callee.bytes, kLimit);
  }
};

struct Calls {
  std::vector<std::vector<int>> callees;  // by function, one entry per call
  std::vector<Size> own;
};

Calls CallsOf(const onnx::ModelProto& model, const FunctionTable& table) {
  Calls calls;
  for (const onnx::FunctionProto& f : model.functions()) {
    std::vector<int>& callees = calls.callees.emplace_back();
    Size& own = calls.own.emplace_back();
    own.bytes = f.ByteSizeLong();
    ForEachNode(f.node(), [&](const onnx::NodeProto& node) {
      ++own.nodes;
      own.bytes += sizeof(onnx::NodeProto);
      if (const int callee = table.IndexOf(node); callee >= 0) callees.push_back(callee);
    });
  }
  return calls;
}

// Takes functions whose callees are all done, one after the other. It does not recurse, so neither
// deep nor circular calls can exhaust the stack.
std::vector<Size> InlinedSizes(const Calls& calls) {
  const size_t count = calls.callees.size();
  std::vector<std::vector<int>> callers(count);
  std::vector<size_t> waiting(count);
  std::vector<int> ready;
  std::vector<Size> sizes(count);
  for (size_t f = 0; f < count; ++f) {
    waiting[f] = calls.callees[f].size();
    for (int callee : calls.callees[f]) callers[callee].push_back(static_cast<int>(f));
    if (waiting[f] == 0) ready.push_back(static_cast<int>(f));
  }
  while (!ready.empty()) {
    const int f = ready.back();
    ready.pop_back();
    sizes[f] = calls.own[f];
    sizes[f].depth = 1;
    for (int callee : calls.callees[f]) {
      sizes[f].Add(sizes[callee]);
      sizes[f].depth = std::max(sizes[f].depth, sizes[callee].depth + 1);
    }
    for (int caller : callers[f]) {
      if (--waiting[caller] == 0) ready.push_back(caller);
    }
  }
  return sizes;
}

Status CheckFinite(const onnx::ModelProto& model, const FunctionTable& table,
                   const Budgets& budgets) {
  const std::vector<Size> sizes = InlinedSizes(CallsOf(model, table));
  for (int i = 0; i < model.functions_size(); ++i) {
    const std::string name = Quote(model.functions(i).name());
    if (sizes[i].depth == 0) return Error(Code::kBadModel, "function ", name, " calls itself");
    if (sizes[i].depth > kMaxCallDepth) {
      return Error(Code::kBadModel, "function ", name, " nests ", sizes[i].depth,
                   " calls, at most ", kMaxCallDepth, " are allowed");
    }
  }
  Size all;
  ForEachNode(model.graph().node(), [&](const onnx::NodeProto& node) {
    if (const int callee = table.IndexOf(node); callee >= 0) all.Add(sizes[callee]);
  });
  AICF_RETURN_IF_ERROR(budgets.Check(Budget::kNodes, static_cast<int64_t>(all.nodes))
                           .WithContext("the model's functions once their calls are inlined"));
  if (all.bytes <= kMaxInlinedBytes) return OkStatus();
  return Error(Code::kResource, "the model's functions come to ", all.bytes,
               " bytes once their calls are inlined, at most ", kMaxInlinedBytes, " are allowed");
}

}  // namespace

int FunctionTable::IndexOf(const onnx::NodeProto& node) const {
  if (ids_.empty()) return -1;
  const auto it = ids_.find(
      {PlainDomain(node.domain()), node.op_type(), Overload(node.unknown_fields(), kNodeOverload)});
  return it == ids_.end() ? -1 : it->second;
}

const onnx::FunctionProto* FunctionTable::Find(const onnx::NodeProto& node) const {
  const int index = IndexOf(node);
  return index < 0 ? nullptr : &model_->functions(index);
}

Result<FunctionTable> FunctionTable::Build(const onnx::ModelProto& model, const Budgets& budgets) {
  FunctionTable table;
  table.model_ = &model;
  for (int i = 0; i < model.functions_size(); ++i) {
    const onnx::FunctionProto& f = model.functions(i);
    const bool added = table.ids_
                           .emplace(std::tuple(PlainDomain(f.domain()), f.name(),
                                               Overload(f.unknown_fields(), kFunctionOverload)),
                                    i)
                           .second;
    if (added) continue;
    return Error(Code::kBadModel, "function ", Quote(f.name()), " of domain ", Quote(f.domain()),
                 " is defined twice");
  }
  AICF_RETURN_IF_ERROR(CheckFinite(model, table, budgets));
  return table;
}

Result<std::map<std::string, onnx::AttributeProto>> DefaultAttributes(
    const onnx::FunctionProto& function) {
  std::map<std::string, onnx::AttributeProto> out;
  for (const std::string& bytes : LaterField(function.unknown_fields(), kFunctionDefaults)) {
    onnx::AttributeProto attribute;
    if (!attribute.ParseFromString(bytes)) {
      return Error(Code::kBadModel, "function ", Quote(function.name()),
                   " has a malformed default");
    }
    out.insert_or_assign(attribute.name(), attribute);
  }
  return out;
}

}  // namespace aicf
