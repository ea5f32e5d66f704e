// Conv, MatMul and Gemm of dequantised operands: products of integers, then one multiplication by
// both scales. What follows (bias, activation, quantisation of the result) joins the product's
// epilogue later, so that between two quantised products nothing is stored in float.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "compiler/passes/graph/channel_shape.h"
#include "compiler/passes/graph/integer_product_cost.h"
#include "compiler/passes/graph/passes.h"
#include "compiler/passes/graph/rewrite.h"

namespace aicf {
namespace {

constexpr std::string_view kIntegerProducts = "integer-products";

// A DequantizeLinear node that feeds a product.
struct Dequantised {
  ir::ValueId codes = ir::kNoValue, scale = ir::kNoValue, zero = ir::kNoValue;
  int64_t axis = 1;
};

class IntegerProducts {
 public:
  IntegerProducts(ir::Graph& graph, PassContext& context)
      : graph_(graph),
        context_(context),
        producer_(ir::ProducerOf(graph)),
        uses_(graph),
        make_(graph) {}

  void Run() {
    const std::vector<ir::Node> nodes = std::exchange(graph_.nodes, {});
    for (const ir::Node& node : nodes) {
      Dequantised x, w;
      const bool left = IsProduct(node) && Find(nodes, node.inputs[0], &x);
      const bool right = IsProduct(node) && Find(nodes, node.inputs[1], &w);
      if (!left && !right) {
        graph_.nodes.push_back(node);
        continue;
      }
      const std::string why = !left    ? "operand: the left operand is no dequantised value"
                              : !right ? "operand: the right operand is no dequantised value"
                                       : Refusal(node, x, w);
      if (why.empty()) {
        RecordRewrite(
            context_, kIntegerProducts, DecisionKind::kFusion, About(node), "integer product",
            "codes are multiplied as they are stored: the sums are exact, and their scales "
            "are one factor of the result");
        Replace(node, x, w);
      } else {
        RecordRewrite(context_, kIntegerProducts, DecisionKind::kFusion, About(node),
                      "product of floats",
                      "an integer product needs codes of 8 bits, one scale on the left, one per "
                      "column on the right, sums and scales within their types, and a target where "
                      "it is faster",
                      {{"integer product", why, -1}});
        graph_.nodes.push_back(node);
      }
    }
  }

 private:
  static bool IsProduct(const ir::Node& node) {
    return node.op == "Conv" || node.op == "MatMul" || node.op == "Gemm";
  }

  bool Find(const std::vector<ir::Node>& nodes, ir::ValueId v, Dequantised* out) const {
    const int n = producer_[v];
    if (n < 0 || nodes[n].op != "DequantizeLinear") return false;
    *out = {nodes[n].inputs[0], nodes[n].inputs[1], nodes[n].input(2), nodes[n].Int("axis", 1)};
    if (nodes[n].Int("block_size", 0) != 0) out->axis = -kMaxRank - 1;  // never one that fits
    return true;
  }

  const ir::Value& Value(ir::ValueId v) const { return graph_.values[v]; }
  bool IsOne(ir::ValueId v) const { return ElementCount(Value(v).shape) == 1; }
  bool IsByte(ir::ValueId v) const { return IsByteInteger(Value(v).dtype); }

  // The axis of the weights that the result's channels, or columns, come from.
  int64_t ColumnAxis(const ir::Node& node, int rank) const {
    if (node.op == "Conv") return 0;
    return node.op == "Gemm" && node.Int("transB", 0) != 0 ? 0 : rank - 1;
  }

  // Empty, or why the product stays one of floats.
  std::string Refusal(const ir::Node& node, const Dequantised& x, const Dequantised& w) const {
    if (!IsByte(x.codes) || !IsByte(w.codes)) return "dtype: codes that are no integers of 8 bits";
    const DType dtype = Value(x.scale).dtype;
    if (dtype != DType::kF32 || Value(w.scale).dtype != dtype)
      return "dtype: scales that are not f32";
    if (!Value(w.codes).is_constant() || !Value(w.scale).is_constant()) {
      return "operand: the right operand is not a constant";
    }
    if (w.zero != ir::kNoValue && !Value(w.zero).is_constant())
      return "weights: a computed zero point";
    if (!IsOne(x.scale) || !Value(x.scale).is_constant()) {
      return "operand: the left operand's scale is not one constant number";
    }
    const int rank = Value(w.codes).shape.rank();
    const int64_t axis = w.axis < 0 ? w.axis + rank : w.axis;
    const bool by_column = Value(w.scale).shape.rank() == 1 && axis == ColumnAxis(node, rank);
    if (!IsOne(w.scale) && !by_column) return "axis: scales that differ within a column";
    std::string refusal = node.op == "Gemm"   ? GemmRefusal(node)
                          : node.op == "Conv" ? ConvRefusal(node, w)
                          : rank != 2         ? "operand: a right operand that is no matrix"
                                              : "";
    if (refusal.empty()) refusal = RangeRefusal(node, x, w);
    if (!refusal.empty() || context_.device.backend != abi::Backend::kCuda) return refusal;
    return IntegerProductRefusal(
        graph_, node, {Value(x.codes).dtype, Value(w.codes).dtype, IsDequantisedApart(node, x)},
        context_);
  }

  // Whether the left operand's codes exist in any case, because others read them or because they
  // are an input of the model. For a product of floats, a step of its own dequantises them then.
  bool IsDequantisedApart(const ir::Node& node, const Dequantised& x) const {
    return producer_[x.codes] < 0 || uses_.Single(x.codes) < 0 || uses_.Single(node.inputs[0]) < 0;
  }

  std::string GemmRefusal(const ir::Node& node) const {
    if (node.Int("transA", 0) != 0) return "operand: the left operand is transposed";
    if (node.Float("alpha", 1) != 1) return "pattern: a factor alpha";
    if (node.input(2) != ir::kNoValue && node.Float("beta", 1) != 1)
      return "pattern: a factor beta";
    return "";
  }

  std::string ConvRefusal(const ir::Node& node, const Dequantised& w) const {
    const Dims& shape = Value(w.codes).shape;
    const int64_t group = node.Int("group", 1);
    if (group > 1 && shape[1] == 1 && shape[0] == group) {
      return "cost: one filter per channel: its sums are exact in f32, and as fast";
    }
    return "";
  }

  // A factor that is not a normal number has lost digits, or turns a sum of 0 into NaN. A sum
  // beyond i32 wraps.
  std::string RangeRefusal(const ir::Node& node, const Dequantised& x, const Dequantised& w) const {
    const auto left = static_cast<float>(Value(x.scale).constant.FloatAt(0));
    const ir::Tensor& right = Value(w.scale).constant;
    for (int64_t i = 0; i < right.count(); ++i) {
      const auto scale = static_cast<float>(right.FloatAt(i));
      if (left != 0 && scale != 0 && !std::isnormal(left * scale)) {
        return "range: the product of both scales is no normal number of f32";
      }
    }
    if (LargestCode(x) * LargestColumn(node, w) > std::numeric_limits<int32_t>::max()) {
      return "range: sums of products of the codes could exceed 32 bits";
    }
    return "";
  }

  // How far a code of x may be from its zero point.
  int64_t LargestCode(const Dequantised& x) const {
    const int64_t low = Value(x.codes).dtype == DType::kI8 ? -128 : 0;
    const ir::Tensor zero = x.zero == ir::kNoValue ? ir::Tensor() : Value(x.zero).constant;
    if (x.zero != ir::kNoValue && !zero.has_data()) return 255;
    const int64_t z = x.zero == ir::kNoValue || zero.count() == 0 ? 0 : zero.IntAt(0);
    return std::max(low + 255 - z, z - low);
  }

  // The largest sum of |w - zero| that belongs to one column of the result.
  int64_t LargestColumn(const ir::Node& node, const Dequantised& w) const {
    const ir::Tensor& codes = Value(w.codes).constant;
    const Dims& shape = codes.shape();
    const int64_t axis = ColumnAxis(node, shape.rank());
    int64_t stride = 1;
    for (int i = static_cast<int>(axis) + 1; i < shape.rank(); ++i) stride *= shape[i];
    std::vector<int64_t> sums(static_cast<size_t>(shape[axis]));
    for (int64_t i = 0; i < codes.count(); ++i) {
      const int64_t column = i / stride % shape[axis];
      int64_t zero = 0;
      if (w.zero != ir::kNoValue) {
        const ir::Tensor& zeros = Value(w.zero).constant;
        zero = zeros.IntAt(zeros.count() == 1 ? 0 : column);
      }
      sums[static_cast<size_t>(column)] += std::abs(codes.IntAt(i) - zero);
    }
    return sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
  }

  // Adds a node and gives its value.
  ir::ValueId Emit(const ir::Node& from, std::string op, std::vector<ir::ValueId> inputs,
                   DType dtype, ir::AttrMap attrs = {}) {
    while (!inputs.empty() && inputs.back() == ir::kNoValue) inputs.pop_back();
    const ir::Value result = Value(from.outputs[0]);
    const ir::ValueId out = make_.Value(result.name, dtype, result.shape);
    graph_.nodes.push_back(
        {std::move(op), from.name, std::move(inputs), {out}, std::move(attrs), {}});
    return out;
  }

  void Replace(const ir::Node& node, const Dequantised& x, const Dequantised& w) {
    const bool conv = node.op == "Conv";
    ir::AttrMap attrs;
    if (conv) attrs = node.attrs;
    const ir::ValueId codes = TransposesB(node) ? Transposed(w.codes) : w.codes;
    ir::ValueId v = Emit(node, conv ? "ConvInteger" : "MatMulInteger",
                         {x.codes, codes, x.zero, w.zero}, DType::kI32, std::move(attrs));
    v = Emit(node, "Cast", {v}, DType::kF32, {{"to", std::string(DTypeName(DType::kF32))}});
    const ir::ValueId bias = node.input(2);
    v = Last(node, "Mul", v, Factors(node, x, w), bias == ir::kNoValue);
    if (bias != ir::kNoValue)
      Last(node, "Add", v, conv ? PerChannel(graph_, make_, node, bias) : bias, true);
  }

  bool TransposesB(const ir::Node& node) const {
    return node.op == "Gemm" && node.Int("transB", 0) != 0;
  }

  // Appends one operator that follows the sums. The last one defines the result of the product.
  ir::ValueId Last(const ir::Node& node, std::string op, ir::ValueId a, ir::ValueId b, bool last) {
    if (!last) return Emit(node, std::move(op), {a, b}, DType::kF32);
    graph_.nodes.push_back({std::move(op), node.name, {a, b}, {node.outputs[0]}, {}, {}});
    return node.outputs[0];
  }

  // The product of the left scale and each right scale: one number, or one per column in a shape
  // that broadcasts to the result.
  ir::ValueId Factors(const ir::Node& node, const Dequantised& x, const Dequantised& w) {
    const auto left = static_cast<float>(Value(x.scale).constant.FloatAt(0));
    const ir::Tensor& right = Value(w.scale).constant;
    std::vector<float> factors;
    for (int64_t i = 0; i < right.count(); ++i) {
      factors.push_back(left * static_cast<float>(right.FloatAt(i)));
    }
    Dims shape;
    if (right.count() > 1) {
      shape = node.op == "Conv" ? ChannelShape(Value(node.outputs[0]).shape.rank(), right.count())
                                : Dims{right.count()};
    }
    return make_.Constant(
        StrCat(Value(node.outputs[0]).name, " factors"),
        ir::Tensor::FromValues<float>(DType::kF32, shape, std::span<const float>(factors)));
  }

  ir::ValueId Transposed(ir::ValueId matrix) {
    const ir::Tensor& t = Value(matrix).constant;
    const Dims& shape = t.shape();
    std::vector<int8_t> codes(static_cast<size_t>(t.count()));
    for (int64_t r = 0; r < shape[0]; ++r) {
      for (int64_t c = 0; c < shape[1]; ++c) {
        codes[static_cast<size_t>(c * shape[0] + r)] =
            static_cast<int8_t>(t.IntAt(r * shape[1] + c));
      }
    }
    return make_.Constant(StrCat(Value(matrix).name, " transposed"),
                          ir::Tensor::FromValues<int8_t>(t.dtype(), {shape[1], shape[0]},
                                                         std::span<const int8_t>(codes)));
  }

  ir::Graph& graph_;
  PassContext& context_;
  const std::vector<int> producer_;
  const Uses uses_;
  ValueMaker make_;
};

}  // namespace

// Products that stay products of floats get their dequantised weights here: they are folded now.
Status MakeIntegerProducts(ir::Graph& graph, PassContext& context) {
  IntegerProducts(graph, context).Run();
  return FoldConstants(graph, context);
}

}  // namespace aicf
