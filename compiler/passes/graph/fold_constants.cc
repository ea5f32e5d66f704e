#include "base/scanner.h"
#include "compiler/passes/graph/fold.h"
#include "compiler/passes/graph/passes.h"
#include "compiler/passes/graph/rewrite.h"

namespace aicf {

Result<bool> TryFold(ir::Graph& graph, const ir::Node& node, Folder& folder, PassContext& context,
                     std::string_view pass) {
  if (!Folder::CanFold(graph, node)) return false;
  std::string why;
  auto results = folder.Evaluate(graph, node, &why);
  if (!results.ok()) return results.status().WithContext(StrCat("folding ", ToString(About(node))));
  const schema::Subject subject = About(node);
  if (!*results) {
    RecordRewrite(context, pass, DecisionKind::kFold, subject, "kept",
                  "folding stays within fixed limits", {{"constant", StrCat("limits: ", why), -1}});
    return false;
  }
  size_t next = 0;
  for (ir::ValueId v : node.outputs) {
    if (v != ir::kNoValue) graph.values[v].constant = (**results)[next++];
  }
  RecordRewrite(context, pass, DecisionKind::kFold, subject, "constant",
                "a node that depends on constants and known shapes alone has one result");
  return true;
}

Status FoldConstants(ir::Graph& graph, PassContext& context) {
  Folder folder(context);
  std::vector<ir::Node> kept;
  for (ir::Node& node : graph.nodes) {
    AICF_ASSIGN_OR_RETURN(const bool folded,
                          TryFold(graph, node, folder, context, "fold-constants"));
    if (!folded) kept.push_back(std::move(node));
  }
  graph.nodes = std::move(kept);
  return OkStatus();
}

}  // namespace aicf
