#include "compiler/import/onnx_check.h"

#include <set>

#include "base/scanner.h"
#include "compiler/import/onnx_rewrites.h"

namespace aicf {

bool IsDefaultDomain(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }

std::string QualifiedOp(const onnx::NodeProto& node) {
  return IsDefaultDomain(node.domain()) ? node.op_type()
                                        : StrCat(node.domain(), ".", node.op_type());
}

bool UsesDefaultDomain(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes) {
  for (const onnx::NodeProto& node : nodes) {
    if (IsDefaultDomain(node.domain())) return true;
    for (const onnx::AttributeProto& a : node.attribute()) {
      if (a.has_g() && UsesDefaultDomain(a.g().node())) return true;
    }
  }
  return false;
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
  // A model that has only ops of other domains needs no version of the default domain.
  if (!found && !UsesDefaultDomain(model.graph().node())) return kMaxOpset;
  if (!found)
    return Error(Code::kUnsupported, "opset_import names no version of the ONNX operators");
  if (opset >= kMinOpset && opset <= kMaxOpset) return opset;
  return Error(Code::kUnsupported, "opset ", opset, " of the ONNX operators, expected ", kMinOpset,
               " to ", kMaxOpset);
}

}  // namespace aicf
