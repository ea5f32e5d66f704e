#include <cmath>
#include <optional>

#include "base/scanner.h"
#include "compiler/passes/graph/passes.h"
#include "compiler/passes/graph/rewrite.h"

namespace aicf {
namespace {

// The one value that all elements of a constant have.
std::optional<double> Uniform(const ir::Graph& graph, ir::ValueId v) {
  const ir::Tensor& t = graph.values[v].constant;
  if (!t.has_data() || t.count() == 0) return std::nullopt;
  const double first = t.FloatAt(0);
  for (int64_t i = 1; i < t.count(); ++i) {
    if (t.FloatAt(i) != first) return std::nullopt;
  }
  return first;
}

bool SameType(const ir::Value& a, const ir::Value& b) {
  return a.dtype == b.dtype && a.shape == b.shape;
}

// x*1, x/1, x+0, x-0, Pow by 1. Adding 0 turns -0 into 0, which no comparison sees.
bool IsNeutral(const ir::Graph& graph, const ir::Node& node) {
  const bool sum = node.op == "Add" || node.op == "Sub";
  if (!sum && node.op != "Mul" && node.op != "Div" && node.op != "Pow") return false;
  const std::optional<double> c = Uniform(graph, node.inputs[1]);
  if (!c || *c != (sum ? 0 : 1)) return false;
  return SameType(graph.values[node.inputs[0]], graph.values[node.outputs[0]]);
}

// The reciprocal of a constant whose elements are all powers of two, when it is exact in the dtype.
std::optional<ir::Tensor> ExactReciprocal(const ir::Tensor& t) {
  if (t.dtype() != DType::kF32 || t.count() == 0) return std::nullopt;
  std::vector<float> out(t.count());
  for (int64_t i = 0; i < t.count(); ++i) {
    int exponent = 0;
    const float value = t.at<float>(i);
    if (std::fabs(std::frexp(value, &exponent)) != 0.5f) return std::nullopt;
    out[i] = 1 / value;
    // Both must be normal: a denormal on either side loses the inverse.
    if (!std::isnormal(value) || !std::isnormal(out[i])) return std::nullopt;
  }
  return ir::Tensor::FromValues<float>(t.dtype(), t.shape(), std::span<const float>(out));
}

class Simplifier {
 public:
  Simplifier(ir::Graph& graph, PassContext& context)
      : graph_(graph), context_(context), make_(graph), forward_(graph) {}

  Status Run() {
    for (size_t n = 0; n < graph_.nodes.size(); ++n) Visit(static_cast<int>(n), graph_.nodes[n]);
    forward_.Apply();
    return OkStatus();
  }

 private:
  void Visit(int n, ir::Node& node) {
    const schema::Subject subject = About(node);
    if (IsNeutral(graph_, node) && forward_.Forward(n, node.outputs[0], node.inputs[0])) {
      return Record(subject, "removed", "its constant is neutral");
    }
    if (node.op == "Div") Reciprocal(node, subject);
    if (node.op == "Pow") Power(node, subject);
  }

  void Reciprocal(ir::Node& node, const schema::Subject& subject) {
    const ir::Value& divisor = graph_.values[node.inputs[1]];
    if (!divisor.is_constant()) return;
    std::optional<ir::Tensor> reciprocal = ExactReciprocal(divisor.constant);
    if (!reciprocal) return;
    node.op = "Mul";
    node.inputs[1] = make_.Constant(StrCat(divisor.name, ".reciprocal"), *std::move(reciprocal));
    Record(subject, "Mul", "the reciprocal of a power of two is exact");
  }

  void Power(ir::Node& node, const schema::Subject& subject) {
    const std::optional<double> exponent = Uniform(graph_, node.inputs[1]);
    const ir::Value& base = graph_.values[node.inputs[0]];
    if (!exponent || !(base.shape == graph_.values[node.outputs[0]].shape)) return;
    if (*exponent == 2) {
      node.op = "Mul";
      node.inputs[1] = node.inputs[0];
      Record(subject, "Mul", "a square is one multiplication");
    } else if (*exponent == 0.5 && IsFloat(base.dtype)) {
      node.op = "Sqrt";
      node.inputs.resize(1);
      Record(subject, "Sqrt", "a power of one half is the square root");
    }
  }

  void Record(const schema::Subject& subject, std::string choice, std::string rule) {
    RecordRewrite(context_, "simplify-arithmetic", DecisionKind::kFold, subject, std::move(choice),
                  std::move(rule));
  }

  ir::Graph& graph_;
  PassContext& context_;
  ValueMaker make_;
  Forwarding forward_;
};

}  // namespace

Status SimplifyArithmetic(ir::Graph& graph, PassContext& context) {
  return Simplifier(graph, context).Run();
}

}  // namespace aicf
