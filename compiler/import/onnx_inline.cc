// Calls of model-local functions, replaced by the functions' nodes.
#include <memory>
#include <vector>

#include "base/scanner.h"
#include "compiler/import/onnx_check.h"
#include "compiler/import/onnx_function_call.h"
#include "compiler/import/onnx_functions.h"
#include "compiler/import/onnx_rewrites.h"
#include "compiler/import/onnx_types.h"

namespace aicf {
namespace {

using onnx::AttributeProto;
using onnx::FunctionProto;
using onnx::NodeProto;
using Nodes = std::vector<std::unique_ptr<NodeProto>>;

// Takes the nodes out of a list. They move by pointer, because FunctionOpsets is keyed by pointer.
Nodes Take(NodeList& list) {
  std::vector<NodeProto*> raw(list.size());
  list.ExtractSubrange(0, list.size(), raw.data());
  return Nodes(raw.begin(), raw.end());
}

Result<int64_t> OpsetOf(const FunctionProto& f, int64_t fallback) {
  for (const auto& import : f.opset_import()) {
    if (!IsDefaultDomain(import.domain())) continue;
    if (import.version() >= kMinOpset && import.version() <= kMaxOpset) return import.version();
    return Error(Code::kUnsupported, "opset ", import.version(),
                 " of the ONNX operators, expected ", kMinOpset, " to ", kMaxOpset);
  }
  if (!UsesDefaultDomain(f.node())) return fallback;
  return Error(Code::kBadModel, "it imports no version of the ONNX operators that it uses");
}

class Inliner {
 public:
  Inliner(const onnx::ModelProto& model, const FunctionTable& table, int64_t opset,
          FunctionOpsets* opsets)
      : table_(table), model_opset_(opset), opsets_(*opsets) {
    names_.Collect(model.graph());
  }

  // Replaces the calls among the nodes. `opset` is that of the function that the nodes come from,
  // or that of the model. The recursion is as deep as calls nest, which the table limits.
  Status Expand(NodeList& nodes, int64_t opset) {
    for (std::unique_ptr<NodeProto>& node : Take(nodes)) {
      if (const FunctionProto* function = table_.Find(*node)) {
        const Status status = Inline(*node, *function, nodes);
        if (status.ok()) continue;
        return status.WithContext(
            StrCat("call ", Quote(NodeName(*node)), " of function ", Quote(function->name())));
      }
      for (AttributeProto& a : *node->mutable_attribute()) {
        if (a.has_g()) AICF_RETURN_IF_ERROR(Expand(*a.mutable_g()->mutable_node(), opset));
      }
      if (opset != model_opset_) opsets_.emplace(node.get(), opset);
      nodes.AddAllocated(node.release());
    }
    return OkStatus();
  }

 private:
  Status Inline(const NodeProto& call, const FunctionProto& function, NodeList& out) {
    AICF_ASSIGN_OR_RETURN(const int64_t opset, OpsetOf(function, model_opset_));
    NodeList body;
    AICF_RETURN_IF_ERROR(FunctionCall(call, function, names_, bytes_left_).Make(body));
    AICF_RETURN_IF_ERROR(Expand(body, opset));
    for (std::unique_ptr<NodeProto>& node : Take(body)) out.AddAllocated(node.release());
    return OkStatus();
  }

  const FunctionTable& table_;
  const int64_t model_opset_;
  FunctionOpsets& opsets_;
  UniqueNames names_;
  uint64_t bytes_left_ = kMaxCopiedBytes;
};

}  // namespace

Status InlineFunctions(onnx::ModelProto& model, int64_t opset, FunctionOpsets* opsets,
                       const Budgets& budgets) {
  if (model.functions_size() == 0) return OkStatus();
  AICF_ASSIGN_OR_RETURN(const FunctionTable table, FunctionTable::Build(model, budgets));
  return Inliner(model, table, opset, opsets).Expand(*model.mutable_graph()->mutable_node(), opset);
}

}  // namespace aicf
