// Products of one value with several constant matrices, each with a constant bias or none, are one
// product with the matrices side by side: query, key and value of attention become one step.
#include <algorithm>
#include <map>

#include "base/scanner.h"
#include "compiler/ir/attention_node.h"
#include "compiler/passes/graph/passes.h"
#include "compiler/passes/graph/rewrite.h"

namespace aicf {
namespace {

constexpr std::string_view kMergeProducts = "merge-products";

// MatMul(x, weights) [+ bias]; `result` is the value that the model reads.
struct MergedProduct {
  int matmul = -1;
  int add = -1;  ///< -1 without a bias
  ir::ValueId x = ir::kNoValue, weights = ir::kNoValue, bias = ir::kNoValue;
  ir::ValueId result = ir::kNoValue;
};

// Readers that read a window of the merged result as easily as a separate value. An elementwise
// reader does not: it would lose its place in the epilogue of the product.
bool ReadsWindows(const ir::Node& node) {
  constexpr std::string_view kOps[] = {"MatMul",  "Reshape",   "Slice",     "Split",
                                       "Squeeze", "Transpose", "Unsqueeze", ir::kAttention};
  return std::ranges::find(kOps, node.op) != std::end(kOps);
}

// Rows of constants [K, N_i], or whole vectors for K = 1, side by side.
ir::Tensor SideBySide(const std::vector<const ir::Tensor*>& parts, int64_t rows) {
  std::vector<std::byte> bytes;
  int64_t width = 0;
  for (const ir::Tensor* t : parts) width += t->shape().back();
  const DType dtype = parts[0]->dtype();
  bytes.reserve(static_cast<size_t>(rows * width * DTypeBytes(dtype)));
  for (int64_t r = 0; r < rows; ++r) {
    for (const ir::Tensor* t : parts) {
      const size_t row = static_cast<size_t>(t->shape().back() * DTypeBytes(dtype));
      const auto from = t->bytes().subspan(static_cast<size_t>(r) * row, row);
      bytes.insert(bytes.end(), from.begin(), from.end());
    }
  }
  const Dims shape = parts[0]->shape().rank() == 1 ? Dims{width} : Dims{rows, width};
  return ir::Tensor::Own(dtype, shape, std::move(bytes));
}

class ProductMerger {
 public:
  ProductMerger(ir::Graph& graph, PassContext& context)
      : graph_(graph), context_(context), make_(graph), uses_(graph) {}

  void Run() {
    std::map<std::pair<ir::ValueId, bool>, std::vector<MergedProduct>> groups;
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (const auto p = ProductAt(static_cast<int>(n))) groups[{p->x, p->add >= 0}].push_back(*p);
    }
    for (const auto& [key, group] : groups) {
      if (group.size() > 1) Merge(group);
    }
    Apply();
  }

 private:
  std::optional<MergedProduct> ProductAt(int n) const {
    const ir::Node& node = graph_.nodes[n];
    if (node.op != "MatMul") return std::nullopt;
    MergedProduct p{n, -1, node.inputs[0], node.inputs[1], ir::kNoValue, node.outputs[0]};
    const ir::Value& w = graph_.values[p.weights];
    if (!w.is_constant() || w.shape.rank() != 2 || w.constant.count() == 0 ||
        graph_.values[p.x].is_constant() || graph_.values[p.x].shape.rank() < 2) {
      return std::nullopt;
    }
    const int next = uses_.Single(p.result);
    if (next >= 0 && graph_.nodes[next].op == "Add") {
      p.bias = graph_.nodes[next].inputs[1];
      const ir::Value& bias = graph_.values[p.bias];
      // canonicalize-operands has put constants second by now.
      if (!bias.is_constant() || bias.shape != Dims{w.shape[1]}) return std::nullopt;
      p.add = next;
      p.result = graph_.nodes[next].outputs[0];
    }
    if (uses_.IsOutput(p.result) || uses_.Of(p.result).empty()) return std::nullopt;
    for (int reader : uses_.Of(p.result)) {
      if (!ReadsWindows(graph_.nodes[reader])) return std::nullopt;
    }
    return p;
  }

  void Merge(const std::vector<MergedProduct>& group) {
    std::vector<const ir::Tensor*> weights, biases;
    std::vector<int64_t> widths;
    schema::NodeNames names;
    int64_t width = 0;
    for (const MergedProduct& p : group) {
      weights.push_back(&graph_.values[p.weights].constant);
      if (p.add >= 0) biases.push_back(&graph_.values[p.bias].constant);
      widths.push_back(weights.back()->shape()[1]);
      width += widths.back();
      names.push_back(graph_.nodes[p.matmul].name);
    }
    const ir::Tensor wide = SideBySide(weights, weights[0]->shape()[0]);
    const ir::Tensor bias = biases.empty() ? ir::Tensor() : SideBySide(biases, 1);
    Rewrite(group, wide, bias, widths, width);
    RecordRewrite(context_, kMergeProducts, DecisionKind::kFusion,
                  schema::Subject::Of(SubjectForm::kNodes, std::move(names)), "one MatMul",
                  "products of one value with constant matrices are one product, and nothing reads "
                  "their results elementwise");
  }

  void Rewrite(const std::vector<MergedProduct>& group, const ir::Tensor& weights,
               const ir::Tensor& bias, const std::vector<int64_t>& widths, int64_t width) {
    const MergedProduct& first = group[0];
    const std::string base = graph_.values[first.result].name;
    const DType dtype = graph_.values[first.result].dtype;
    Dims shape = graph_.values[first.result].shape;
    shape[shape.rank() - 1] = width;
    const std::string name = graph_.nodes[first.matmul].name;
    std::vector<ir::Node>& nodes = instead_[first.matmul];
    auto emit = [&](std::string_view op, std::vector<ir::ValueId> inputs,
                    std::vector<ir::ValueId> outputs) -> ir::Node& {
      ir::Node node;
      node.op = op;
      node.name = name;
      node.inputs = std::move(inputs);
      node.outputs = std::move(outputs);
      nodes.push_back(std::move(node));
      return nodes.back();
    };
    ir::ValueId all = make_.Value(StrCat(base, ".merged"), dtype, shape);
    emit("MatMul", {first.x, make_.Constant(StrCat(base, ".weights"), weights)}, {all});
    if (bias.has_data()) {
      const ir::ValueId sum = make_.Value(StrCat(base, ".biased"), dtype, shape);
      emit("Add", {all, make_.Constant(StrCat(base, ".bias"), bias)}, {sum});
      all = sum;
    }
    std::vector<ir::ValueId> results;
    for (const MergedProduct& p : group) {
      results.push_back(p.result);
      instead_[p.matmul];
      if (p.add >= 0) instead_[p.add];
    }
    ir::Node& split = emit("Split", {all, make_.Ints(StrCat(base, ".widths"), widths)}, results);
    split.attrs["axis"] = static_cast<int64_t>(shape.rank() - 1);
  }

  void Apply() {
    std::vector<ir::Node> out;
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      const auto it = instead_.find(static_cast<int>(n));
      if (it == instead_.end()) {
        out.push_back(std::move(graph_.nodes[n]));
      } else {
        for (ir::Node& node : it->second) out.push_back(std::move(node));
      }
    }
    graph_.nodes = std::move(out);
  }

  ir::Graph& graph_;
  PassContext& context_;
  ValueMaker make_;
  Uses uses_;
  std::map<int, std::vector<ir::Node>> instead_;  ///< what stands in a node's place
};

}  // namespace

Status MergeProducts(ir::Graph& graph, PassContext& context) {
  ProductMerger(graph, context).Run();
  return OkStatus();
}

}  // namespace aicf
