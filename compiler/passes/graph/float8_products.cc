// Conv, MatMul and Gemm of float8 codes that have one scale on the left, and on the right one or
// one for each column, or channel of the result: the codes are multiplied as they are stored, and
// both scales are one factor of the result. This is the form in which quantisers export float8
// models.
#include <cmath>
#include <utility>

#include "compiler/ir/scaled_node.h"
#include "compiler/passes/graph/channel_shape.h"
#include "compiler/passes/graph/float8_operands.h"
#include "compiler/passes/graph/integer_product_cost.h"
#include "compiler/passes/graph/passes.h"
#include "compiler/passes/graph/rewrite.h"
#include "compiler/passes/graph/scaled_product_cost.h"

namespace aicf {
namespace {

constexpr CodeProductTexts kTexts = {
    "float8-products",
    "product of codes",
    "codes are multiplied as they are stored: their products are exact, and their scales are one "
    "factor of the result",
    "a product of float8 codes needs codes of one type on both sides, one constant scale on the "
    "left, one or one for each column on the right, and a target where it is faster",
    "is not dequantised from float8",
    /*convolutions=*/true};

class Float8Products {
 public:
  Float8Products(ir::Graph& graph, PassContext& context)
      : graph_(graph), context_(context), producer_(ir::ProducerOf(graph)), make_(graph) {}

  void Run() {
    ReplaceCodeProducts(graph_, context_, kTexts,
                        {[this](const std::vector<ir::Node>& nodes, ir::ValueId v) {
                           return Dequantised(nodes, v);
                         },
                         [this](const ir::Node& node, const ir::Node& a, const ir::Node& b) {
                           return Refusal(node, a, b);
                         },
                         [this](const ir::Node& node, const ir::Node& a, const ir::Node& b) {
                           Replace(node, a, b);
                         }});
  }

 private:
  const ir::Value& Value(ir::ValueId v) const { return graph_.values[v]; }
  bool IsOne(ir::ValueId v) const { return ElementCount(Value(v).shape) == 1; }

  // The DequantizeLinear of float8 codes that makes v, or null.
  const ir::Node* Dequantised(const std::vector<ir::Node>& nodes, ir::ValueId v) const {
    const int n = producer_[v];
    if (n < 0 || nodes[n].op != "DequantizeLinear") return nullptr;
    const DType codes = Value(nodes[n].inputs[0]).dtype;
    return codes == DType::kF8E4M3FN || codes == DType::kF8E5M2 ? &nodes[n] : nullptr;
  }
  // Products of two such operands are for scaled-products, which has run before.
  bool HasBlocks(const ir::Node& node) const {
    return node.Int("block_size", 0) != 0 && !IsOne(node.inputs[1]);
  }

  // Empty, or why the product stays one of floats.
  std::string Refusal(const ir::Node& node, const ir::Node& a, const ir::Node& b) const {
    const ir::Value &x = Value(a.inputs[0]), &w = Value(b.inputs[0]);
    if (x.dtype != w.dtype) return "dtype: codes of two types";
    if (HasBlocks(a) || HasBlocks(b)) return "pattern: scales of blocks";
    for (const ir::Node* n : {&a, &b}) {
      if (!Value(n->inputs[1]).is_constant()) return "operand: a scale that is no constant";
      if (!IsZeroPoint(graph_, n->input(2))) return "operand: a zero point that is not 0";
    }
    if (!IsOne(a.inputs[1])) return "operand: several scales on the left";
    const bool conv = node.op == "Conv";
    const int columns = conv || TransposesB(node) ? 0 : 1;
    if (!conv && (x.shape.rank() < 2 || w.shape.rank() != 2)) {
      return "operand: a left operand without rows, or a right operand that is no matrix";
    }
    if (!IsOne(b.inputs[1]) && BlockAxis(b, w.shape) != columns) {
      return "axis: scales that differ within a column";
    }
    if (std::string refusal = RefuseGemmOfCodes(node); !refusal.empty()) return refusal;
    if (!HasNormalFactors(a, b)) {
      return "range: the product of both scales is no normal number of f32";
    }
    return conv ? ConvRefusal(node, x.dtype) : MatrixRefusal(node, x, w);
  }

  std::string ConvRefusal(const ir::Node& node, DType codes) const {
    if (context_.device.name.empty()) return {};  // golden tests of what is legal
    if (context_.device.backend != abi::Backend::kCuda) {
      return "capability: no kernel of the target multiplies float8 codes";
    }
    return IntegerProductRefusal(graph_, node, {codes, codes}, context_);
  }

  std::string MatrixRefusal(const ir::Node& node, const ir::Value& x, const ir::Value& w) const {
    ScaledShape shape;
    shape.codes = x.dtype;
    shape.rows = RowsOf(x.shape);
    shape.columns = w.shape[TransposesB(node) ? 0 : 1];
    shape.length = x.shape.back();
    shape.along_sum = w.is_constant() || TransposesB(node);
    return ScaledProductRefusal(shape, context_);
  }

  // The product of the left scale and each right scale.
  std::vector<float> Factors(const ir::Node& a, const ir::Node& b) const {
    const double left = Value(a.inputs[1]).constant.FloatAt(0);
    const ir::Tensor& right = Value(b.inputs[1]).constant;
    std::vector<float> factors;
    for (int64_t i = 0; i < right.count(); ++i) {
      factors.push_back(static_cast<float>(left * right.FloatAt(i)));
    }
    return factors;
  }

  // A factor that is no normal number has lost digits, or is infinite. One of 0 is exact where one
  // of the scales is 0.
  bool HasNormalFactors(const ir::Node& a, const ir::Node& b) const {
    const double left = Value(a.inputs[1]).constant.FloatAt(0);
    const ir::Tensor& right = Value(b.inputs[1]).constant;
    const std::vector<float> factors = Factors(a, b);
    for (size_t i = 0; i < factors.size(); ++i) {
      const bool zero = left == 0 || right.FloatAt(static_cast<int64_t>(i)) == 0;
      if (!zero && !std::isnormal(factors[i])) return false;
    }
    return true;
  }

  void Replace(const ir::Node& node, const ir::Node& a, const ir::Node& b) {
    const bool conv = node.op == "Conv";
    const ir::ValueId codes =
        TransposesB(node) ? TransposedMatrix(graph_, make_, node, b.inputs[0]) : b.inputs[0];
    const ir::ValueId bias = BiasOf(node);
    const DType dtype = Value(node.outputs[0]).dtype;
    const bool narrow = dtype != DType::kF32, biased = bias != ir::kNoValue;
    ir::ValueId v = Append(node, std::string(conv ? ir::kCodeConv : ir::kScaledMatMul),
                           {a.inputs[0], codes}, DType::kF32, conv ? node.attrs : ir::AttrMap());
    v = Append(node, "Mul", {v, FactorsOf(node, a, b)}, DType::kF32, {}, !narrow && !biased);
    if (narrow) {
      v = Append(node, "Cast", {v}, dtype, {{"to", std::string(DTypeName(dtype))}}, !biased);
    }
    if (biased) Append(node, "Add", {v, bias}, dtype, {}, true);
  }

  // In a shape that broadcasts to the result.
  ir::ValueId BiasOf(const ir::Node& node) {
    const ir::ValueId bias = node.input(2);
    return bias == ir::kNoValue || node.op != "Conv" ? bias : PerChannel(graph_, make_, node, bias);
  }

  ir::ValueId FactorsOf(const ir::Node& node, const ir::Node& a, const ir::Node& b) {
    const std::vector<float> all = Factors(a, b);
    const auto count = static_cast<int64_t>(all.size());
    const ir::Value& result = Value(node.outputs[0]);
    const Dims shape = count == 1          ? Dims{}
                       : node.op == "Conv" ? ChannelShape(result.shape.rank(), count)
                                           : Dims{count};
    return make_.Constant(
        StrCat(result.name, " factors"),
        ir::Tensor::FromValues<float>(DType::kF32, shape, std::span<const float>(all)));
  }

  // Appends a node in the name of `node` and gives its value, which is that of `node` for the last
  // one.
  ir::ValueId Append(const ir::Node& node, std::string op, std::vector<ir::ValueId> inputs,
                     DType dtype, ir::AttrMap attrs = {}, bool last = false) {
    const ir::Value result = Value(node.outputs[0]);
    const ir::ValueId out = last ? node.outputs[0] : make_.Value(result.name, dtype, result.shape);
    graph_.nodes.push_back(
        {std::move(op), node.name, std::move(inputs), {out}, std::move(attrs), {}});
    return out;
  }

  ir::Graph& graph_;
  PassContext& context_;
  const std::vector<int> producer_;
  ValueMaker make_;
};

}  // namespace

Status MakeFloat8Products(ir::Graph& graph, PassContext& context) {
  Float8Products(graph, context).Run();
  return OkStatus();
}

}  // namespace aicf
