// MatMul and Gemm of float8 codes whose blocks along the sum have scales: aicf.ScaledMatMul, which
// multiplies the codes as they are stored and the sums of each block by both scales.

#include "base/checked.h"
#include "compiler/ir/scaled_node.h"
#include "compiler/passes/graph/float8_operands.h"
#include "compiler/passes/graph/passes.h"
#include "compiler/passes/graph/rewrite.h"
#include "compiler/passes/graph/scaled_product_cost.h"

namespace aicf {
namespace {

constexpr CodeProductTexts kTexts = {"scaled-products", "product with scales",
                                     "codes are multiplied as they are stored: their products are "
                                     "exact, and the sums of a block are "
                                     "multiplied by both scales",
                                     "a product with scales needs float8 codes and f32 scales of "
                                     "blocks along the sum on both sides, "
                                     "and a target where it is faster",
                                     "has no scales of blocks"};

class ScaledProducts {
 public:
  ScaledProducts(ir::Graph& graph, PassContext& context)
      : graph_(graph), context_(context), producer_(ir::ProducerOf(graph)), make_(graph) {}

  void Run() {
    ReplaceCodeProducts(
        graph_, context_, kTexts,
        {[this](const std::vector<ir::Node>& nodes, ir::ValueId v) { return Blocked(nodes, v); },
         [this](const ir::Node& node, const ir::Node& a, const ir::Node& b) {
           return Refusal(node, a, b);
         },
         [this](const ir::Node& node, const ir::Node& a, const ir::Node& b) {
           Replace(node, a, b);
         }});
  }

 private:
  const ir::Value& Value(ir::ValueId v) const { return graph_.values[v]; }

  // The DequantizeLinear with scales of blocks that makes v, or null.
  const ir::Node* Blocked(const std::vector<ir::Node>& nodes, ir::ValueId v) const {
    const int n = producer_[v];
    if (n < 0 || nodes[n].op != "DequantizeLinear") return nullptr;
    const bool one = ElementCount(Value(nodes[n].inputs[1]).shape) == 1;
    return nodes[n].Int("block_size", 0) != 0 && !one ? &nodes[n] : nullptr;
  }

  // Empty, or why the product stays one of floats.
  std::string Refusal(const ir::Node& node, const ir::Node& a, const ir::Node& b) const {
    const ir::Value &x = Value(a.inputs[0]), &w = Value(b.inputs[0]);
    if (x.dtype != w.dtype || (x.dtype != DType::kF8E4M3FN && x.dtype != DType::kF8E5M2)) {
      return "dtype: codes that are not both f8e4m3fn or both f8e5m2";
    }
    for (const ir::Node* n : {&a, &b}) {
      if (Value(n->inputs[1]).dtype != DType::kF32) return "dtype: scales that are not f32";
      if (Value(n->outputs[0]).dtype != DType::kF32) return "dtype: a product that is not of f32";
      if (!IsZeroPoint(graph_, n->input(2))) return "operand: a zero point that is not 0";
    }
    if (x.shape.rank() < 2 || w.shape.rank() != 2) {
      return "operand: a left operand without rows, or a right operand that is no matrix";
    }
    if (BlockAxis(a, x.shape) != x.shape.rank() - 1) {
      return "axis: the left operand's blocks do not run along the sum";
    }
    if (BlockAxis(b, w.shape) != (TransposesB(node) ? 1 : 0)) {
      return "axis: the right operand's blocks do not run along the sum";
    }
    const int64_t terms = a.Int("block_size", 0);
    if (b.Int("block_size", 0) != terms) return "pattern: blocks of different lengths";
    if (std::string refusal = RefuseGemmOfCodes(node); !refusal.empty()) return refusal;
    ScaledShape shape;
    shape.codes = x.dtype;
    shape.rows = RowsOf(x.shape);
    shape.columns = w.shape[TransposesB(node) ? 0 : 1];
    shape.length = x.shape.back();
    shape.scale_terms = terms;
    shape.scale_columns = ColumnsOfScale(node, b);
    shape.along_sum = w.is_constant() || TransposesB(node);
    return ScaledProductRefusal(shape, context_);
  }

  // How many columns share their scales: 128 where constant scales repeat so, which they do when
  // scales of blocks of 128 x 128 are written out for every column; otherwise 1.
  int64_t ColumnsOfScale(const ir::Node& node, const ir::Node& b) const {
    constexpr int64_t kBlock = 128;
    const ir::Tensor& scales = Value(b.inputs[1]).constant;
    if (!scales.has_data()) return 1;
    const bool across = TransposesB(node);
    const int64_t columns = scales.shape()[across ? 0 : 1], steps = scales.shape()[across ? 1 : 0];
    for (int64_t s = 0; s < steps; ++s) {
      for (int64_t c = 0; c < columns; ++c) {
        if (ScaleAt(scales, across, s, c) != ScaleAt(scales, across, s, c / kBlock * kBlock))
          return 1;
      }
    }
    return kBlock;
  }
  static float ScaleAt(const ir::Tensor& t, bool across, int64_t step, int64_t column) {
    const int64_t stride = t.shape()[1];
    return t.at<float>(across ? column * stride + step : step * stride + column);
  }

  void Replace(const ir::Node& node, const ir::Node& a, const ir::Node& b) {
    const bool across = TransposesB(node);
    const int64_t columns = ColumnsOfScale(node, b);
    const ir::ValueId codes =
        across ? TransposedMatrix(graph_, make_, node, b.inputs[0]) : b.inputs[0];
    const ir::ValueId scales = columns > 1 ? OfBlocks(b.inputs[1], across, columns)
                               : across    ? TransposedMatrix(graph_, make_, node, b.inputs[1])
                                           : b.inputs[1];
    const ir::ValueId bias = node.input(2);
    const ir::Value result = Value(node.outputs[0]);
    const ir::ValueId out = bias == ir::kNoValue
                                ? node.outputs[0]
                                : make_.Value(result.name, result.dtype, result.shape);
    graph_.nodes.push_back({std::string(ir::kScaledMatMul),
                            node.name,
                            {a.inputs[0], codes, a.inputs[1], scales},
                            {out},
                            {{"scale_terms", a.Int("block_size", 0)}, {"scale_columns", columns}},
                            {}});
    if (bias == ir::kNoValue) return;
    graph_.nodes.push_back({"Add", node.name, {out, bias}, {node.outputs[0]}, {}, {}});
  }

  // [steps, blocks of columns] of constant scales that repeat within a block.
  ir::ValueId OfBlocks(ir::ValueId scales, bool across, int64_t columns) {
    const ir::Tensor& all = Value(scales).constant;
    const int64_t steps = all.shape()[across ? 1 : 0];
    const int64_t blocks = CeilDiv(all.shape()[across ? 0 : 1], columns);
    std::vector<float> first;
    for (int64_t s = 0; s < steps; ++s) {
      for (int64_t c = 0; c < blocks; ++c) first.push_back(ScaleAt(all, across, s, c * columns));
    }
    return make_.Constant(
        StrCat(Value(scales).name, " of blocks"),
        ir::Tensor::FromValues<float>(DType::kF32, {steps, blocks}, std::span<const float>(first)));
  }

  ir::Graph& graph_;
  PassContext& context_;
  const std::vector<int> producer_;
  ValueMaker make_;
};

}  // namespace

Status MakeScaledProducts(ir::Graph& graph, PassContext& context) {
  ScaledProducts(graph, context).Run();
  return OkStatus();
}

}  // namespace aicf
