// One walk that makes every shape known. Folding cannot wait for a later pass: shapes are often
// computed by nodes of the model itself.
#include "base/scanner.h"
#include "compiler/ir/infer/infer.h"
#include "compiler/passes/evaluate.h"
#include "compiler/passes/graph/fold.h"
#include "compiler/passes/graph/modernize.h"
#include "compiler/passes/graph/passes.h"

namespace aicf {
namespace {

class Walker {
 public:
  Walker(ir::Graph& graph, PassContext& context)
      : graph_(graph), context_(context), make_(graph), folder_(context) {}

  Status Run() {
    std::vector<ir::Node> nodes = std::move(graph_.nodes);
    graph_.nodes.clear();
    for (ir::Node& node : nodes) {
      const std::string label = StrCat(node.op, " node ", Quote(node.name));
      auto newer = Modernize(graph_, make_, std::move(node));
      if (!newer.ok()) return newer.status().WithContext(label);
      for (ir::Node& n : *newer) AICF_RETURN_IF_ERROR(Visit(std::move(n)));
    }
    return OkStatus();
  }

 private:
  Status Visit(ir::Node node) {
    AICF_RETURN_IF_ERROR(ir::InferNode(graph_, node));
    AICF_ASSIGN_OR_RETURN(const bool folded,
                          TryFold(graph_, node, folder_, context_, "infer-and-fold"));
    if (!folded) graph_.nodes.push_back(std::move(node));
    return OkStatus();
  }

  ir::Graph& graph_;
  PassContext& context_;
  ValueMaker make_;
  Folder folder_;
};

}  // namespace

Status InferAndFold(ir::Graph& graph, PassContext& context) { return Walker(graph, context).Run(); }

}  // namespace aicf
