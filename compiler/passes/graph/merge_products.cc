// Products of one value with several constant matrices, each with a constant bias or none, are one
// product with the matrices side by side: query, key and value of attention become one step.
// Products of float8 codes also have the factors of their scales in front of the bias.
#include <algorithm>
#include <map>

#include "base/scanner.h"
#include "compiler/ir/attention_node.h"
#include "compiler/ir/scaled_node.h"
#include "compiler/passes/graph/passes.h"
#include "compiler/passes/graph/rewrite.h"

namespace aicf {
namespace {

constexpr std::string_view kMergeProducts = "merge-products";

// A product with constant weights, and what belongs to it; `result` is the value that the model
// reads.
struct MergedProduct {
  int product = -1;
  std::vector<int> after;  ///< nodes behind it, each the only reader of the one before
  ir::ValueId x = ir::kNoValue, weights = ir::kNoValue, result = ir::kNoValue;
};

// Readers that read a window of the merged result as easily as a separate value. An elementwise
// reader does not: it would lose its place in the epilogue of the product.
bool ReadsWindows(const ir::Node& node) {
  constexpr std::string_view kOps[] = {"MatMul",  "Reshape",   "Slice",     "Split",
                                       "Squeeze", "Transpose", "Unsqueeze", ir::kAttention};
  return std::ranges::find(kOps, node.op) != std::end(kOps);
}

// The number, or the numbers [width], as one for each of `width` columns.
ir::Tensor ForColumns(const ir::Tensor& t, int64_t width) {
  const size_t each = static_cast<size_t>(DTypeBytes(t.dtype()));
  std::vector<std::byte> bytes;
  for (int64_t c = 0; c < width; ++c) {
    const auto from = t.bytes().subspan(t.count() == 1 ? 0 : static_cast<size_t>(c) * each, each);
    bytes.insert(bytes.end(), from.begin(), from.end());
  }
  return ir::Tensor::Own(t.dtype(), {width}, std::move(bytes));
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
    std::map<std::pair<ir::ValueId, std::string>, std::vector<MergedProduct>> groups;
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (const auto p = ProductAt(static_cast<int>(n))) groups[{p->x, FormOf(*p)}].push_back(*p);
    }
    for (const auto& [key, group] : groups) {
      if (group.size() > 1) Merge(group);
    }
    Apply();
  }

 private:
  const ir::Node& Node(int n) const { return graph_.nodes[n]; }
  int64_t WidthOf(const MergedProduct& p) const { return graph_.values[p.weights].shape[1]; }

  // Products of one form can be one: the same operators, with results of the same dtypes.
  std::string FormOf(const MergedProduct& p) const {
    std::string form = Node(p.product).op;
    for (const int n : p.after)
      form += StrCat(" ", Node(n).op, " ", DTypeName(graph_.values[Node(n).outputs[0]].dtype));
    return form;
  }

  std::optional<MergedProduct> ProductAt(int n) const {
    const ir::Node& node = Node(n);
    const bool codes = node.op == ir::kScaledMatMul && node.input(2) == ir::kNoValue;
    if (node.op != "MatMul" && !codes) return std::nullopt;
    MergedProduct p{n, {}, node.inputs[0], node.inputs[1], node.outputs[0]};
    const ir::Value& w = graph_.values[p.weights];
    if (!w.is_constant() || w.shape.rank() != 2 || w.constant.count() == 0 ||
        graph_.values[p.x].is_constant() || graph_.values[p.x].shape.rank() < 2) {
      return std::nullopt;
    }
    if (codes) {
      TakeNext("Mul", true, &p);
      TakeNext("Cast", true, &p);
    }
    TakeNext("Add", false, &p);
    if (uses_.IsOutput(p.result) || uses_.Of(p.result).empty()) return std::nullopt;
    for (int reader : uses_.Of(p.result)) {
      if (!ReadsWindows(Node(reader))) return std::nullopt;
    }
    return p;
  }

  // Adds the only reader of the product so far, where it is this operator and, but for Cast, has a
  // constant with a number for each column, or with `one` also a single number.
  void TakeNext(std::string_view op, bool one, MergedProduct* p) const {
    const int next = uses_.Single(p->result);
    if (next < 0 || Node(next).op != op) return;
    const ir::Value& then = graph_.values[Node(next).outputs[0]];
    if (then.shape != graph_.values[p->result].shape) return;
    // How a Cast to a narrower dtype treats what is beyond it is up to its attributes.
    if (op == "Cast" && (!IsFloat(then.dtype) || DTypeBytes(then.dtype) < 2)) return;
    if (op != "Cast") {
      // canonicalize-operands has put constants second by now.
      const ir::Value& numbers = graph_.values[Node(next).inputs[1]];
      const bool single = one && numbers.is_constant() && numbers.constant.count() == 1;
      if (!single && (!numbers.is_constant() || numbers.shape != Dims{WidthOf(*p)})) return;
    }
    p->after.push_back(next);
    p->result = Node(next).outputs[0];
  }

  void Merge(const std::vector<MergedProduct>& group) {
    std::vector<const ir::Tensor*> weights;
    std::vector<int64_t> widths;
    schema::NodeNames names;
    for (const MergedProduct& p : group) {
      weights.push_back(&graph_.values[p.weights].constant);
      widths.push_back(WidthOf(p));
      names.push_back(Node(p.product).name);
    }
    Rewrite(group, SideBySide(weights, weights[0]->shape()[0]), widths);
    RecordRewrite(context_, kMergeProducts, DecisionKind::kFusion,
                  schema::Subject::Of(SubjectForm::kNodes, std::move(names)),
                  Node(group[0].product).op == "MatMul" ? "one MatMul" : "one product of codes",
                  "products of one value with constant matrices are one product, and nothing reads "
                  "their results elementwise");
  }

  // The constants that the nodes in one place behind the group's products have, side by side.
  ir::Tensor NumbersOf(const std::vector<MergedProduct>& group, size_t place) const {
    std::vector<ir::Tensor> numbers;
    std::vector<const ir::Tensor*> all;
    for (const MergedProduct& p : group) {
      const ir::Value& own = graph_.values[Node(p.after[place]).inputs[1]];
      numbers.push_back(ForColumns(own.constant, WidthOf(p)));
    }
    for (const ir::Tensor& t : numbers) all.push_back(&t);
    return SideBySide(all, 1);
  }

  void Rewrite(const std::vector<MergedProduct>& group, const ir::Tensor& weights,
               const std::vector<int64_t>& widths) {
    const MergedProduct first = group[0];
    const std::string base = graph_.values[first.result].name;
    Dims shape = graph_.values[first.result].shape;
    shape[shape.rank() - 1] = weights.shape()[1];
    const std::string name = Node(first.product).name;
    std::vector<ir::Node>& nodes = instead_[first.product];
    auto emit = [&](int like, std::vector<ir::ValueId> inputs, std::string_view suffix) {
      const DType dtype = graph_.values[Node(like).outputs[0]].dtype;
      const ir::ValueId out = make_.Value(StrCat(base, suffix), dtype, shape);
      nodes.push_back({Node(like).op, name, std::move(inputs), {out}, Node(like).attrs, {}});
      return out;
    };
    ir::ValueId all = emit(first.product,
                           {first.x, make_.Constant(StrCat(base, ".weights"), weights)}, ".merged");
    for (size_t i = 0; i < first.after.size(); ++i) {
      const int like = first.after[i];
      const bool adds = Node(like).op == "Add", converts = Node(like).op == "Cast";
      std::vector<ir::ValueId> inputs = {all};
      if (!converts) {
        inputs.push_back(
            make_.Constant(StrCat(base, adds ? ".bias" : ".factors"), NumbersOf(group, i)));
      }
      all = emit(like, std::move(inputs), adds ? ".biased" : converts ? ".converted" : ".scaled");
    }
    std::vector<ir::ValueId> results;
    for (const MergedProduct& p : group) {
      results.push_back(p.result);
      instead_[p.product];
      for (const int n : p.after) instead_[n];
    }
    ir::Node split{"Split", name, {all, make_.Ints(StrCat(base, ".widths"), widths)},
                   results, {},   {}};
    split.attrs["axis"] = static_cast<int64_t>(shape.rank() - 1);
    nodes.push_back(std::move(split));
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
