// MatMul(a * s, b * t) = MatMul(a, b) * (s * t) for scalar constants s and t: exporters scale
// queries and keys before their product, where each factor costs a pass over an operand; after the
// product it is a factor of its epilogue.
#include <cmath>
#include <map>

#include "base/scanner.h"
#include "compiler/passes/graph/passes.h"
#include "compiler/passes/graph/rewrite.h"
#include "compiler/passes/graph/scalar_factor.h"

namespace aicf {
namespace {

constexpr std::string_view kMoveScales = "move-scales";

class Mover {
 public:
  Mover(ir::Graph& graph, PassContext& context)
      : graph_(graph),
        context_(context),
        make_(graph),
        producer_(ir::ProducerOf(graph)),
        uses_(graph),
        dropped_(graph.nodes.size(), false) {}

  void Run() {
    std::vector<ir::Node> out;
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (graph_.nodes[n].op == "MatMul") Visit(static_cast<int>(n));
    }
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (dropped_[n]) continue;
      const auto scale = scales_.find(static_cast<int>(n));
      out.push_back(std::move(graph_.nodes[n]));
      if (scale != scales_.end()) out.push_back(std::move(scale->second));
    }
    graph_.nodes = std::move(out);
  }

 private:
  // A factor of one operand of a product, and the node that reads the unscaled value instead: the
  // product itself, or a Transpose between the two.
  struct Scale {
    int node = -1;
    int reader = -1;
    size_t input = 0;
    double factor = 1;
  };

  std::optional<Scale> ScaleOf(int matmul, size_t input) const {
    Scale found{producer_[graph_.nodes[matmul].inputs[input]], matmul, input, 1};
    if (found.node < 0 || uses_.Single(graph_.nodes[found.node].outputs[0]) != matmul) {
      return std::nullopt;
    }
    if (graph_.nodes[found.node].op == "Transpose") {
      found.reader = found.node;
      found.input = 0;
      found.node = producer_[graph_.nodes[found.reader].inputs[0]];
      if (found.node < 0 || uses_.Single(graph_.nodes[found.node].outputs[0]) != found.reader) {
        return std::nullopt;
      }
    }
    const std::optional<double> factor = FactorOf(graph_, graph_.nodes[found.node]);
    if (!factor) return std::nullopt;
    found.factor = *factor;
    return found;
  }

  // A half-precision product that is stored before it is scaled may overflow where the model's does
  // not.
  static bool Safe(DType dtype) {
    return dtype == DType::kF32 || dtype == DType::kF64 || dtype == DType::kBF16;
  }

  void Visit(int n) {
    double factor = 1;
    std::vector<Scale> scales;
    for (size_t input : {0, 1}) {
      const std::optional<Scale> scale = ScaleOf(n, input);
      if (!scale) continue;
      scales.push_back(*scale);
      factor *= scale->factor;
    }
    if (scales.empty()) return;
    const ir::ValueId product = graph_.nodes[n].outputs[0];
    const DType dtype = graph_.values[product].dtype;
    schema::NodeNames names;
    for (const Scale& s : scales) names.push_back(graph_.nodes[s.node].name);
    if (!Safe(dtype) || !std::isnormal(static_cast<float>(factor))) {
      return Record(
          names, "kept before the product",
          {{"behind the product",
            StrCat("range: the unscaled product may leave the range of ", DTypeName(dtype)), -1}});
    }
    for (const Scale& s : scales) {
      graph_.nodes[s.reader].inputs[s.input] = graph_.nodes[s.node].inputs[0];
      dropped_[s.node] = true;
    }
    Append(n, product, factor, dtype);
    Record(names, "behind the product", {});
  }

  // Lets the product make a new value. Its old value becomes the result of the multiplication
  // behind it, and so stays what it was.
  void Append(int n, ir::ValueId product, double factor, DType dtype) {
    const Dims shape = graph_.values[product].shape;
    const std::string base = graph_.values[product].name;
    const ir::ValueId raw = make_.Value(StrCat(base, ".unscaled"), dtype, shape);
    const ir::ValueId scalar = make_.Constant(StrCat(base, ".scale"), ScalarTensor(factor, dtype));
    graph_.nodes[n].outputs[0] = raw;
    ir::Node scale;
    scale.op = "Mul";
    scale.name = graph_.nodes[n].name;
    scale.inputs = {raw, scalar};
    scale.outputs = {product};
    scales_.emplace(n, std::move(scale));
  }

  void Record(const schema::NodeNames& names, std::string choice,
              std::vector<Alternative> alternatives) {
    RecordRewrite(
        context_, kMoveScales, DecisionKind::kFold,
        schema::Subject::Of(SubjectForm::kScales, names), std::move(choice),
        "a scalar factor of an operand is a factor of the product, and free in its epilogue",
        std::move(alternatives));
  }

  ir::Graph& graph_;
  PassContext& context_;
  ValueMaker make_;
  std::vector<int> producer_;
  Uses uses_;
  std::vector<bool> dropped_;
  std::map<int, ir::Node> scales_;  ///< by product
};

}  // namespace

Status MoveScales(ir::Graph& graph, PassContext& context) {
  Mover(graph, context).Run();
  return OkStatus();
}

}  // namespace aicf
