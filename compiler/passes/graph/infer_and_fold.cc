// One walk that makes every shape known. Folding cannot wait for a later pass: shapes are often
// computed by nodes of the model itself.
#include "base/scanner.h"
#include "compiler/ir/dynamic_extent.h"
#include "compiler/ir/infer/infer.h"
#include "compiler/passes/composite/composer.h"
#include "compiler/passes/composite/composite.h"
#include "compiler/passes/composite/counted.h"
#include "compiler/passes/evaluate.h"
#include "compiler/passes/graph/expand.h"
#include "compiler/passes/graph/fold.h"
#include "compiler/passes/graph/modernize.h"
#include "compiler/passes/graph/passes.h"

namespace aicf {
namespace {

// Weights that a product may take as the codes that they are (integer_products.cc).
bool HoldsCodes(const ir::Graph& graph, const ir::Node& node) {
  if (node.op != "DequantizeLinear") return false;
  const ir::Value& codes = graph.values[node.inputs[0]];
  return IsByteInteger(codes.dtype) && codes.is_constant() && codes.shape.rank() >= 2;
}

class Walker {
 public:
  Walker(ir::Graph& graph, PassContext& context)
      : graph_(graph),
        context_(context),
        make_(graph),
        folder_(context),
        expander_(graph, make_, context, [this](ir::Node node) { return Take(std::move(node)); }) {}

  Status Run() {
    std::vector<ir::Node> nodes = std::move(graph_.nodes);
    graph_.nodes.clear();
    for (ir::Node& node : nodes) AICF_RETURN_IF_ERROR(Take(std::move(node)));
    return expander_.ExpandOutputs();
  }

 private:
  // One node of the model, or of what an expansion put in its place.
  Status Take(ir::Node node) {
    const std::string label = StrCat(node.op, " node ", Quote(node.name));
    if (expander_.Takes(node)) {
      const Status status = expander_.Expand(node);
      return status.ok() ? status : status.WithContext(label);
    }
    if (const ExpandComposite compose = FindComposite(node.op)) {
      Composer composer(
          graph_, make_, node, [this](ir::Node n) { return Take(std::move(n)); },
          [this](const ir::Node& owner, const ir::Body& body, std::span<const ir::ValueId> args) {
            return expander_.Inline(owner, body, args, body.attribute);
          },
          &context_);
      const Status status = compose(composer);
      return status.ok() ? status : status.WithContext(label);
    }
    const bool asks = node.op == "Shape" || node.op == "Size";
    const ir::DynamicExtent* extent = asks ? extents_.Of(node.inputs[0]) : nullptr;
    if (extent != nullptr) {
      Composer composer(graph_, make_, node, [this](ir::Node n) { return Take(std::move(n)); });
      const Status status = node.op == "Shape" ? ExpandCountedShape(composer, *extent)
                                               : ExpandCountedSize(composer, *extent);
      return status.ok() ? status : status.WithContext(label);
    }
    auto newer = Modernize(graph_, make_, std::move(node));
    if (!newer.ok()) return newer.status().WithContext(label);
    for (ir::Node& n : *newer) AICF_RETURN_IF_ERROR(Visit(std::move(n)));
    return OkStatus();
  }

  Status Visit(ir::Node node) {
    AICF_RETURN_IF_ERROR(ir::InferNode(graph_, node));
    AICF_RETURN_IF_ERROR(extents_.Visit(graph_, node));
    if (HoldsCodes(graph_, node)) {
      graph_.nodes.push_back(std::move(node));
      return OkStatus();
    }
    AICF_ASSIGN_OR_RETURN(const bool folded,
                          TryFold(graph_, node, folder_, context_, "infer-and-fold"));
    if (!folded) graph_.nodes.push_back(std::move(node));
    return OkStatus();
  }

  ir::Graph& graph_;
  PassContext& context_;
  ValueMaker make_;
  ir::DynamicExtents extents_;
  Folder folder_;
  Expander expander_;
};

}  // namespace

Status InferAndFold(ir::Graph& graph, PassContext& context) { return Walker(graph, context).Run(); }

}  // namespace aicf
