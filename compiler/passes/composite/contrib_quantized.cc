// Ops of com.microsoft on quantised values: each dequantises its operands, computes the float op,
// and quantises the result.
#include "compiler/passes/composite/composites.h"
#include "compiler/passes/composite/pieces.h"
#include "compiler/passes/composite/quantized.h"

namespace aicf {
namespace {

// Inputs: a, its scale and zero point; b, its scale and zero point; the scale and zero point of the
// result.
Status ExpandQLinearBinary(Composer& c, std::string_view op) {
  if (!Require(c, {0, 1, 3, 4, 6})) return c.status();
  const ir::ValueId a = Dequantized(c, c.In(0), c.In(1), c.In(2));
  const ir::ValueId b = Dequantized(c, c.In(3), c.In(4), c.In(5));
  c.Output(0, Quantized(c, c.Op(op, {a, b}), c.In(6), c.In(7), c.Type(c.In(0))));
  return c.status();
}

// For ops with the inputs x, its scale and zero point, and the scale and zero point of the result.
ir::ValueId Operand(Composer& c) {
  return Require(c, {0, 1, 3}) ? Dequantized(c, c.In(0), c.In(1), c.In(2)) : ir::kNoValue;
}
Status Finish(Composer& c, ir::ValueId result) {
  c.Output(0, Quantized(c, result, c.In(3), c.In(4), c.Type(c.In(0))));
  return c.status();
}

bool ChannelsLast(const Composer& c) { return c.node().Int("channels_last", 0) != 0; }

// The axes in the order [N, C, spatial..] from [N, spatial.., C], or back.
std::vector<int64_t> ChannelOrder(int rank, bool to_second) {
  std::vector<int64_t> perm = {0};
  if (to_second) perm.push_back(rank - 1);
  for (int64_t i = to_second ? 1 : 2; i < (to_second ? rank - 1 : rank); ++i) perm.push_back(i);
  if (!to_second) perm.push_back(1);
  return perm;
}

ir::AttrMap WindowAttributes(const Composer& c) {
  ir::AttrMap out;
  for (std::string_view name : {"auto_pad", "ceil_mode", "count_include_pad", "dilations",
                                "kernel_shape", "pads", "strides"}) {
    const auto it = c.node().attrs.find(name);
    if (it != c.node().attrs.end()) out.insert(*it);
  }
  return out;
}

}  // namespace

Status ExpandQLinearAdd(Composer& c) { return ExpandQLinearBinary(c, "Add"); }

Status ExpandQLinearMul(Composer& c) { return ExpandQLinearBinary(c, "Mul"); }

Status ExpandQLinearSigmoid(Composer& c) { return Finish(c, c.Op("Sigmoid", {Operand(c)})); }

Status ExpandQLinearLeakyRelu(Composer& c) {
  const double alpha = c.node().Float("alpha", 0.01);
  return Finish(c, c.Op("LeakyRelu", {Operand(c)}, {{"alpha", alpha}}));
}

// Adds up the codes as integers, where the sum is exact, and scales the mean.
Status ExpandQLinearGlobalAveragePool(Composer& c) {
  if (!Require(c, {0, 1, 3})) return c.status();
  const Dims& shape = c.Shape(c.In(0));
  const int rank = shape.rank();
  if (rank < 3) return Error(Code::kBadModel, "its input has rank ", rank, ", expected at least 3");
  std::vector<int64_t> axes;
  double count = 1;
  for (int i = ChannelsLast(c) ? 1 : 2; i < (ChannelsLast(c) ? rank - 1 : rank); ++i) {
    axes.push_back(i);
    count *= static_cast<double>(shape[i]);
  }
  ir::ValueId codes = c.Cast(c.In(0), DType::kI32);
  if (c.Has(2)) codes = c.Sub(codes, c.Cast(c.In(2), DType::kI32));
  const ir::ValueId sum = c.Cast(Reduce(c, "ReduceSum", codes, axes, true), DType::kF32);
  const ir::ValueId mean = c.Op("Div", {sum, c.Scalar(count, DType::kF32)});
  return Finish(c, c.Mul(mean, c.Cast(c.In(1), DType::kF32)));
}

// Averages codes minus zero point, which are whole numbers, and scales the mean afterwards.
Status ExpandQLinearAveragePool(Composer& c) {
  if (!Require(c, {0, 1, 3})) return c.status();
  const int rank = c.Shape(c.In(0)).rank();
  ir::ValueId x = c.Cast(c.In(0), DType::kF32);
  if (c.Has(2)) x = c.Sub(x, c.Cast(c.In(2), DType::kF32));
  if (ChannelsLast(c)) x = c.Transpose(x, ChannelOrder(rank, true));
  x = c.Op("AveragePool", {x}, WindowAttributes(c));
  if (ChannelsLast(c)) x = c.Transpose(x, ChannelOrder(rank, false));
  return Finish(c, c.Mul(x, c.Cast(c.In(1), DType::kF32)));
}

// Inputs: the result's scale and zero point, then for each part its codes, scale and zero point.
Status ExpandQLinearConcat(Composer& c) {
  const size_t inputs = c.node().inputs.size();
  if (inputs < 5 || inputs % 3 != 2) {
    return Error(Code::kBadModel, "has ", inputs, " inputs, expected 2 and 3 for each part");
  }
  std::vector<ir::ValueId> parts;
  for (size_t i = 2; i < inputs; i += 3) {
    const ir::ValueId part = Dequantized(c, c.In(i), c.In(i + 1), c.In(i + 2));
    parts.push_back(Quantized(c, part, c.In(0), c.In(1), c.Type(c.In(i))));
  }
  c.Output(0, c.Concat(std::move(parts), c.node().Int("axis", 0)));
  return c.status();
}

// `opset` names the version of Softmax: below 13 it normalises over all axes from `axis` on.
Status ExpandQLinearSoftmax(Composer& c) {
  const Dims shape = c.Shape(c.In(0));
  const ir::ValueId x = Operand(c);
  const bool flat = c.node().Int("opset", 13) < 13;
  const int64_t axis = c.node().Int("axis", -1);
  if (!flat) return Finish(c, c.Op("Softmax", {x}, {{"axis", axis}}));
  const ir::ValueId rows = c.Op("Flatten", {x}, {{"axis", axis}});
  return Finish(c, c.Reshape(c.Op("Softmax", {rows}, {{"axis", int64_t{1}}}), shape));
}

}  // namespace aicf
