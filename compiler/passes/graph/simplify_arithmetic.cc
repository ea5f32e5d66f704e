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

// REQUIRES: i32 or i64.
ir::Tensor Filled(DType dtype, const Dims& shape, int64_t count, int64_t value) {
  const auto size = static_cast<size_t>(count);
  if (dtype == DType::kI64) {
    const std::vector<int64_t> values(size, value);
    return ir::Tensor::FromValues<int64_t>(dtype, shape, values);
  }
  const std::vector<int32_t> values(size, static_cast<int32_t>(value));
  return ir::Tensor::FromValues<int32_t>(dtype, shape, values);
}

class Simplifier {
 public:
  Simplifier(ir::Graph& graph, PassContext& context)
      : graph_(graph),
        context_(context),
        producers_(ir::ProducerOf(graph)),
        make_(graph),
        forward_(graph) {}

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
    if (node.op == "Min" || node.op == "Max") Clamp(n, node, subject);
    if (node.op == "GatherND") GatherOfOne(node, subject);
    if (node.op == "Div") Reciprocal(node, subject);
    if (node.op == "Pow") Power(node, subject);
  }

  // Replaces Min(Max(x, a), c) with c <= a, or Max(Min(x, a), c) with c >= a, by c: it is c for any
  // integer x.
  void Clamp(int n, const ir::Node& node, const schema::Subject& subject) {
    const ir::Value& out = graph_.values[node.outputs[0]];
    const std::optional<int64_t> limit = UniformInteger(node, node.op);
    const ir::Node* inner = Producer(node.inputs[0]);
    if (!limit || inner == nullptr) return;
    const std::optional<int64_t> bound = UniformInteger(*inner, node.op == "Min" ? "Max" : "Min");
    if (!bound || (node.op == "Min" ? *limit > *bound : *limit < *bound)) return;
    const std::optional<int64_t> count = ElementCount(out.shape);
    if (!count || *count > kMostIndices) return;
    const std::string name = StrCat(out.name, ".limit");
    const ir::ValueId constant = make_.Constant(name, Filled(out.dtype, out.shape, *count, *limit));
    if (!forward_.Forward(n, node.outputs[0], constant)) return;
    Record(subject, "constant", "no number is left between its two limits");
  }

  // Replaces a GatherND whose indices are all 0, along axes of one element, by a Reshape: it gives
  // all of the data, in their order.
  void GatherOfOne(ir::Node& node, const schema::Subject& subject) {
    const Dims& data = graph_.values[node.inputs[0]].shape;
    const Dims& out = graph_.values[node.outputs[0]].shape;
    const std::optional<int64_t> count = ElementCount(data);
    if (!count || *count == 0 || count != ElementCount(out) || !AlwaysZero(node.inputs[1])) return;
    const auto batch = static_cast<int>(node.Int("batch_dims", 0));
    const int64_t axes = graph_.values[node.inputs[1]].shape.back();
    for (int64_t a = batch; a < batch + axes; ++a) {
      if (data[static_cast<int>(a)] != 1) return;
    }
    node.op = "Reshape";
    node.attrs.clear();
    node.inputs[1] = make_.Ints(StrCat(node.name, ".shape"), out.span());
    Record(subject, "Reshape", "each of its axes has one element, which every index names");
  }

  // The constant operand of an integer Min or Max (`op`) whose elements are all equal; nullopt for
  // other nodes.
  std::optional<int64_t> UniformInteger(const ir::Node& node, std::string_view op) const {
    if (node.op != op || node.inputs.size() != 2) return std::nullopt;
    const DType dtype = graph_.values[node.outputs[0]].dtype;
    if (dtype != DType::kI32 && dtype != DType::kI64) return std::nullopt;
    const ir::Tensor& t = graph_.values[node.inputs[1]].constant;
    if (!t.has_data() || t.count() == 0 || t.count() > kMostIndices) return std::nullopt;
    for (int64_t i = 1; i < t.count(); ++i) {
      if (t.IntAt(i) != t.IntAt(0)) return std::nullopt;
    }
    return t.IntAt(0);
  }

  // Whether v is a constant of zeros. Looks through one change of the shape, since that is folded
  // only later.
  bool AlwaysZero(ir::ValueId v) const {
    const ir::Node* node = Producer(v);
    const bool reshaped = node != nullptr && (node->op == "Unsqueeze" || node->op == "Reshape");
    v = forward_.Resolve(reshaped ? node->inputs[0] : v);
    if (graph_.values[v].constant.count() > kMostIndices) return false;
    const std::optional<double> value = Uniform(graph_, v);
    return value && *value == 0;
  }

  const ir::Node* Producer(ir::ValueId v) const {
    v = forward_.Resolve(v);
    const int n = static_cast<size_t>(v) < producers_.size() ? producers_[v] : -1;
    return n < 0 ? nullptr : &graph_.nodes[n];
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

  // Most elements of a constant that is read or made here. Limits and indices of a list of requests
  // have fewer, images have more. A model may have a million such nodes.
  static constexpr int64_t kMostIndices = 128;

  ir::Graph& graph_;
  PassContext& context_;
  const std::vector<int> producers_;  // of the values that were there before
  ValueMaker make_;
  Forwarding forward_;
};

}  // namespace

Status SimplifyArithmetic(ir::Graph& graph, PassContext& context) {
  return Simplifier(graph, context).Run();
}

}  // namespace aicf
