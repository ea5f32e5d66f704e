#include "compiler/import/onnx_check.h"

#include <map>
#include <set>
#include <vector>

#include "base/scanner.h"
#include "compiler/import/onnx_rewrites.h"

namespace aicf {
namespace {

constexpr int kMaxCallDepth = 100;

using CallGraph = std::vector<std::vector<int>>;

CallGraph CallsOf(const onnx::ModelProto& model) {
  std::map<std::pair<std::string, std::string>, int> ids;
  for (int i = 0; i < model.functions_size(); ++i) {
    ids.emplace(std::pair(model.functions(i).domain(), model.functions(i).name()), i);
  }
  CallGraph calls(model.functions_size());
  for (int i = 0; i < model.functions_size(); ++i) {
    for (const onnx::NodeProto& node : model.functions(i).node()) {
      const auto callee = ids.find({node.domain(), node.op_type()});
      if (callee != ids.end()) calls[i].push_back(callee->second);
    }
  }
  return calls;
}

// Functions that call nothing have depth 1. Peels off functions whose callees are all done, so that
// neither the depth of the calls nor a circle is a depth of our stack. -1 for functions in circles.
std::vector<int> CallDepths(const CallGraph& calls) {
  std::vector<std::vector<int>> callers(calls.size());
  std::vector<size_t> waiting(calls.size());
  std::vector<int> ready, depth(calls.size(), -1);
  for (size_t f = 0; f < calls.size(); ++f) {
    waiting[f] = calls[f].size();
    for (int callee : calls[f]) callers[callee].push_back(static_cast<int>(f));
    if (waiting[f] == 0) ready.push_back(static_cast<int>(f));
  }
  while (!ready.empty()) {
    const int f = ready.back();
    ready.pop_back();
    depth[f] = 1;
    for (int callee : calls[f]) depth[f] = std::max(depth[f], depth[callee] + 1);
    for (int caller : callers[f]) {
      if (--waiting[caller] == 0) ready.push_back(caller);
    }
  }
  return depth;
}

}  // namespace

bool IsDefaultDomain(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }

std::string QualifiedOp(const onnx::NodeProto& node) {
  return IsDefaultDomain(node.domain()) ? node.op_type()
                                        : StrCat(node.domain(), ".", node.op_type());
}

Result<int64_t> CheckOpsets(const onnx::ModelProto& model) {
  std::set<std::string> seen;
  int64_t opset = 0;
  bool found = false;
  for (const auto& import : model.opset_import()) {
    const bool own = IsDefaultDomain(import.domain());
    if (!seen.insert(own ? std::string() : import.domain()).second) {
      return Error(Code::kBadModel, "opset_import names domain ", Quote(import.domain()), " twice");
    }
    if (!own) continue;
    opset = import.version();
    found = true;
  }
  if (!found)
    return Error(Code::kUnsupported, "opset_import names no version of the ONNX operators");
  if (opset >= kMinOpset && opset <= kMaxOpset) return opset;
  return Error(Code::kUnsupported, "opset ", opset, " of the ONNX operators, expected ", kMinOpset,
               " to ", kMaxOpset);
}

Status CheckFunctions(const onnx::ModelProto& model) {
  const std::vector<int> depth = CallDepths(CallsOf(model));
  for (int i = 0; i < model.functions_size(); ++i) {
    const std::string name = Quote(model.functions(i).name());
    if (depth[i] < 0) return Error(Code::kBadModel, "function ", name, " calls itself");
    if (depth[i] > kMaxCallDepth) {
      return Error(Code::kBadModel, "function ", name, " nests ", depth[i], " calls, at most ",
                   kMaxCallDepth, " are allowed");
    }
  }
  return OkStatus();
}

}  // namespace aicf
