#include "compiler/passes/composite/quantized.h"

#include "compiler/passes/composite/composites.h"
#include "compiler/passes/composite/pieces.h"

namespace aicf {
namespace {

std::vector<ir::ValueId> WithZero(ir::ValueId v, ir::ValueId scale, ir::ValueId zero) {
  std::vector<ir::ValueId> inputs = {v, scale};
  if (zero != ir::kNoValue) inputs.push_back(zero);
  return inputs;
}

// The largest (or smallest) of all elements and 0.
ir::ValueId Extreme(Composer& c, std::string_view reduce, std::string_view op, ir::ValueId v) {
  const ir::ValueId all = Reduce(c, reduce, v, AxesFrom(0, c.Shape(v).rank()), false);
  return c.Op(op, {all, c.Scalar(0, c.Type(v))});
}

}  // namespace

bool Require(Composer& c, std::initializer_list<size_t> inputs) {
  for (size_t i : inputs) {
    if (!c.Has(i)) c.Fail(Error(Code::kBadModel, "input ", i, " is absent, but required"));
  }
  return c.ok();
}

ir::ValueId Dequantized(Composer& c, ir::ValueId codes, ir::ValueId scale, ir::ValueId zero) {
  return c.Op("DequantizeLinear", WithZero(codes, scale, zero));
}

ir::ValueId Quantized(Composer& c, ir::ValueId v, ir::ValueId scale, ir::ValueId zero,
                      DType dtype) {
  ir::AttrMap attrs;
  if (zero == ir::kNoValue) attrs["output_dtype"] = std::string(DTypeName(dtype));
  return c.Op("QuantizeLinear", WithZero(v, scale, zero), std::move(attrs));
}

DynamicCodes QuantizeDynamically(Composer& c, ir::ValueId v) {
  const DType dtype = c.Type(v);
  const ir::ValueId most = Extreme(c, "ReduceMax", "Max", v);
  const ir::ValueId least = Extreme(c, "ReduceMin", "Min", v);
  const ir::ValueId range = c.Sub(most, least);
  const ir::ValueId step = c.Op("Div", {range, c.Scalar(255, dtype)});
  const ir::ValueId none = c.Op("Equal", {step, c.Scalar(0, dtype)});
  DynamicCodes out;
  // The step is 0 for a tensor of zeros, for which any scale will do, and for a range of the
  // smallest denormal numbers, where the quotient underflows. A scale of 1 avoids the division by
  // 0.
  out.scale = c.Op("Where", {none, c.Scalar(1, dtype), step});
  const ir::ValueId start = c.Op("Neg", {c.Op("Div", {least, out.scale})});
  const ir::ValueId clipped = c.Op("Clip", {start, c.Scalar(0, dtype), c.Scalar(255, dtype)});
  out.zero = c.Cast(c.Op("Round", {clipped}), DType::kU8);
  out.codes = Quantized(c, v, out.scale, out.zero, DType::kU8);
  return out;
}

Status ExpandDynamicQuantizeLinear(Composer& c) {
  if (c.Type(c.In(0)) != DType::kF32) return Error(Code::kBadModel, "its input is not f32");
  const DynamicCodes out = QuantizeDynamically(c, c.In(0));
  c.Output(0, out.codes);
  c.Output(1, out.scale);
  c.Output(2, out.zero);
  return c.status();
}

}  // namespace aicf
