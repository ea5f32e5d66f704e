// Products of com.microsoft whose operands are quantised.
#include "compiler/passes/composite/composites.h"
#include "compiler/passes/composite/pieces.h"
#include "compiler/passes/composite/quantized.h"

namespace aicf {
namespace {

// A vector of one value per row, as a column.
ir::ValueId ByRow(Composer& c, ir::ValueId v) {
  const Dims shape = c.Shape(v);
  return shape.rank() == 1 && shape[0] > 1 ? c.Reshape(v, {shape[0], 1}) : v;
}

ir::ValueId Transposed(Composer& c, ir::ValueId v, std::string_view flag) {
  return c.node().Int(flag, 0) != 0 ? c.Transpose(v, {1, 0}) : v;
}

}  // namespace

ir::ValueId ScaledProduct(Composer& c, const QuantizedOperand& a, const QuantizedOperand& b,
                          ir::ValueId bias) {
  // Inputs are positional: where b has a zero point, a must have one too. Zero changes nothing.
  const ir::ValueId a_zero = a.zero == ir::kNoValue ? Number(c, 0, c.Type(a.codes)) : a.zero;
  std::vector<ir::ValueId> inputs = {a.codes, b.codes, a_zero};
  if (b.zero != ir::kNoValue) inputs.push_back(b.zero);
  const ir::ValueId sums = c.Op("MatMulInteger", std::move(inputs));
  const DType dtype = c.Type(a.scale);
  const ir::ValueId scale = c.Mul(a.scale, c.Cast(b.scale, dtype));
  const ir::ValueId y = c.Mul(c.Cast(sums, DType::kF32), c.Cast(scale, DType::kF32));
  const ir::ValueId out = c.Cast(y, dtype);
  return bias == ir::kNoValue ? out : c.Add(out, bias);
}

// Inputs: a in f32, b, its scale and zero point, a bias.
Status ExpandDynamicQuantizeMatMul(Composer& c) {
  if (!Require(c, {0, 1, 2})) return c.status();
  const DynamicCodes a = QuantizeDynamically(c, c.In(0));
  c.Output(0, ScaledProduct(c, {a.codes, a.scale, a.zero}, {c.In(1), c.In(2), c.In(3)}, c.In(4)));
  return c.status();
}

// Inputs: a, b, their scales, their zero points, a bias.
Status ExpandMatMulIntegerToFloat(Composer& c) {
  if (!Require(c, {0, 1, 2, 3})) return c.status();
  c.Output(0, ScaledProduct(c, {c.In(0), ByRow(c, c.In(2)), c.In(4)}, {c.In(1), c.In(3), c.In(5)},
                            c.In(6)));
  return c.status();
}

// Inputs: a, its scale and zero point; b, its scale and zero point; c in i32; the result's scale
// and zero point. Without the result's scale the result is f32.
Status ExpandQGemm(Composer& c) {
  if (!Require(c, {0, 1, 2, 3, 4, 5})) return c.status();
  const double alpha = c.node().Float("alpha", 1);
  const ir::ValueId a = Transposed(c, c.In(0), "transA"), b = Transposed(c, c.In(3), "transB");
  ir::ValueId sums = c.Op("MatMulInteger", {a, b, c.In(2), c.In(5)});
  // c is in units of alpha and both scales, as the sums are, so it is added to the exact sums.
  if (c.Has(6)) sums = c.Add(sums, c.In(6));
  const ir::ValueId scale = c.Scaled(c.Mul(c.In(1), c.In(4)), alpha);
  const ir::ValueId y = c.Mul(c.Cast(sums, DType::kF32), scale);
  c.Output(0, c.Has(7) ? Quantized(c, y, c.In(7), c.In(8), c.Type(c.In(0))) : y);
  return c.status();
}

}  // namespace aicf
