// One walk that makes every shape known. Folding cannot wait for a later pass: shapes are often
// computed by nodes of the model itself.
#include "base/scanner.h"
#include "base/utf8.h"
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

// True for the dequantisation of constant weights, which a product may read as codes instead
// (integer_products.cc, scaled_products.cc, float8_products.cc). It is not folded here.
bool HoldsCodes(const ir::Graph& graph, const ir::Node& node) {
  if (node.op != "DequantizeLinear") return false;
  const ir::Value& codes = graph.values[node.inputs[0]];
  const bool bytes =
      IsByteInteger(codes.dtype) || (IsFloat(codes.dtype) && DTypeBytes(codes.dtype) == 1);
  return bytes && codes.is_constant() && codes.shape.rank() >= 2;
}

// Names in an artifact may have 65,536 bytes. The rest is room for what passes append to a name.
constexpr size_t kMaxNodeNameBytes = 60'000;

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
  // Takes one node of the model, or of what an expansion has put in its place, into the graph.
  Status Take(ir::Node node) {
    const std::string op = node.op, name = node.name;
    const auto labelled = [&](const Status& status) {
      return status.ok() ? status : status.WithContext(StrCat(op, " node ", Quote(name)));
    };
    if (expander_.Takes(node)) {
      return labelled(expander_.Expand(node));
    }
    if (Status tensors = expander_.CheckTensors(node); !tensors.ok()) return labelled(tensors);
    if (const ExpandComposite compose = FindComposite(node.op)) {
      Composer composer(
          graph_, make_, node, [this](ir::Node n) { return Take(std::move(n)); },
          [this](const ir::Node& owner, const ir::Body& body, std::span<const ir::ValueId> args) {
            return expander_.Inline(owner, body, args, body.attribute);
          },
          &context_);
      return labelled(compose(composer));
    }
    const bool asks = node.op == "Shape" || node.op == "Size";
    const ir::DynamicExtent* extent = asks ? extents_.Of(node.inputs[0]) : nullptr;
    if (extent != nullptr) {
      Composer composer(graph_, make_, node, [this](ir::Node n) { return Take(std::move(n)); });
      return labelled(op == "Shape" ? ExpandCountedShape(composer, *extent)
                                    : ExpandCountedSize(composer, *extent));
    }
    auto newer = Modernize(graph_, make_, std::move(node));
    if (!newer.ok()) return labelled(newer.status());
    for (ir::Node& n : *newer) AICF_RETURN_IF_ERROR(Visit(std::move(n)));
    return OkStatus();
  }

  Status Visit(ir::Node node) {
    AICF_RETURN_IF_ERROR(CheckBudgets(node));
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

  // Limits what loops and composite ops add: as many nodes as their attributes and shapes say.
  Status CheckBudgets(const ir::Node& node) {
    const Budgets& budgets = context_.budgets;
    if (node.name.size() > kMaxNodeNameBytes) {
      return Error(Code::kResource, "the node ", Quote(Abridge(node.name, 40)), " gets a name of ",
                   node.name.size(), " bytes from the subgraphs around it, at most ",
                   kMaxNodeNameBytes, " are possible");
    }
    name_bytes_ += static_cast<int64_t>(node.name.size());
    AICF_RETURN_IF_ERROR(budgets.Check(Budget::kNameBytes, name_bytes_ + make_.name_bytes()));
    return budgets.Check(Budget::kNodes, static_cast<int64_t>(graph_.nodes.size()) + 1);
  }

  ir::Graph& graph_;
  PassContext& context_;
  int64_t name_bytes_ = 0;  // of the nodes
  ValueMaker make_;
  ir::DynamicExtents extents_;
  Folder folder_;
  Expander expander_;
};

}  // namespace

Status InferAndFold(ir::Graph& graph, PassContext& context) { return Walker(graph, context).Run(); }

}  // namespace aicf
