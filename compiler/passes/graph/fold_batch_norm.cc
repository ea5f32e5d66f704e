#include "base/scanner.h"
#include "compiler/passes/graph/channel_affine.h"
#include "compiler/passes/graph/passes.h"

namespace aicf {
namespace {

constexpr std::string_view kFoldBatchNorm = "fold-batch-norm";

class BatchNormFolder {
 public:
  BatchNormFolder(ir::Graph& graph, PassContext& context)
      : graph_(graph), context_(context), make_(graph), forward_(graph), uses_(graph) {}

  Status Run() {
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (IsProduct(graph_.nodes[n])) Absorb(graph_.nodes[n]);
      if (graph_.nodes[n].op == "BatchNormalization") ExplainKept(static_cast<int>(n));
    }
    forward_.Apply();
    return OkStatus();
  }

 private:
  // Takes the nodes behind the product, as long as each is the only reader of the result so far and
  // scales and shifts it per channel. The weights are multiplied once, by all of them together.
  void Absorb(ir::Node& product) {
    if (const std::string refusal = RefuseWeights(product); !refusal.empty()) {
      const int user = uses_.Single(product.outputs[0]);
      if (user >= 0) refusals_[&graph_.nodes[user]] = refusal;
      return;
    }
    const size_t channels = graph_.values[product.outputs[0]].shape[kProductChannelAxis];
    ChannelAffine total{std::vector<double>(channels, 1), std::vector<double>(channels, 0)};
    std::vector<int> taken;
    ir::ValueId result = product.outputs[0];
    for (int user; (user = uses_.Single(result)) >= 0;) {
      const ir::Node& next = graph_.nodes[user];
      auto affine = AffineOf(graph_, next, result, kProductChannelAxis);
      if (!affine.ok()) {
        refusals_[&next] = StrCat("weights: ", affine.status().message());
        break;
      }
      for (size_t c = 0; c < channels; ++c) {
        total.scale[c] *= affine->scale[c];
        total.shift[c] = total.shift[c] * affine->scale[c] + affine->shift[c];
      }
      taken.push_back(user);
      result = next.outputs[0];
    }
    if (!taken.empty()) Fold(product, total, taken);
  }

  // Weights that are not empty have at least one number for each channel, so the work for each
  // channel is bounded by the size of the file.
  std::string RefuseWeights(const ir::Node& product) const {
    const ir::Value& weights = graph_.values[product.inputs[1]];
    if (!weights.is_constant()) return "weights: they are not constant";
    return weights.constant.count() == 0 ? "weights: they are empty" : "";
  }

  void Fold(ir::Node& product, const ChannelAffine& total, const std::vector<int>& taken) {
    auto folded = FoldAffine(graph_, product, total);
    for (int n : taken) {
      const ir::Node& node = graph_.nodes[n];
      if (!folded.ok()) {
        refusals_[&node] = StrCat("weights: ", folded.status().message());
        continue;
      }
      product.outputs[0] = node.outputs[0];
      forward_.Drop(n);
      RecordRewrite(context_, kFoldBatchNorm, DecisionKind::kFold, About(node),
                    StrCat("weights and bias of ", product.op, " ", Quote(product.name)),
                    "a scale and a shift per channel cost nothing inside the weights");
    }
    if (folded.ok()) Replace(product, *std::move(folded));
  }

  void Replace(ir::Node& product, FoldedProduct folded) {
    const std::string base = graph_.values[product.inputs[1]].name;
    product.inputs.resize(3, ir::kNoValue);
    product.inputs[1] = make_.Constant(StrCat(base, ".folded"), std::move(folded.weights));
    product.inputs[2] = make_.Constant(StrCat(base, ".bias"), std::move(folded.bias));
    // The new bias is multiplied by beta already.
    if (product.op == "Gemm") product.attrs.erase("beta");
  }

  // Products come before their users, so a BatchNormalization that is still here was not taken.
  void ExplainKept(int n) {
    const ir::Node& node = graph_.nodes[n];
    if (forward_.dropped(n)) return;
    const auto it = refusals_.find(&node);
    const std::string why =
        it != refusals_.end()
            ? it->second
            : "product: its input is not the result of a product that it alone reads";
    RecordRewrite(context_, kFoldBatchNorm, DecisionKind::kFold, About(node), "kept",
                  "only a product's own weights can take it", {{"folded into weights", why, -1}});
  }

  ir::Graph& graph_;
  PassContext& context_;
  ValueMaker make_;
  Forwarding forward_;
  const Uses uses_;
  std::map<const ir::Node*, std::string> refusals_;
};

}  // namespace

Status FoldBatchNorm(ir::Graph& graph, PassContext& context) {
  return BatchNormFolder(graph, context).Run();
}

}  // namespace aicf
