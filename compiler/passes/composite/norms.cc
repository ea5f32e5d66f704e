// Normalisations that are not one step of the normalize family.
#include "compiler/ir/infer/infer.h"
#include "compiler/passes/composite/composites.h"
#include "compiler/passes/composite/pieces.h"

namespace aicf {
namespace {

// Mean and population variance of x over the axes, which stay with extent 1.
struct Moments {
  ir::ValueId mean, centred, variance;
};

Moments MomentsOf(Composer& c, ir::ValueId x, const std::vector<int64_t>& axes) {
  Moments m{};
  m.mean = Reduce(c, "ReduceMean", x, axes, true);
  m.centred = c.Sub(x, m.mean);
  m.variance = Reduce(c, "ReduceMean", c.Mul(m.centred, m.centred), axes, true);
  return m;
}

ir::ValueId Plus(Composer& c, ir::ValueId v, double addend) {
  return c.Add(v, c.Scalar(addend, c.Type(v)));
}

}  // namespace

// The LayerNormalization step gives the first output. The statistics, which backward passes would
// read, are computed beside it.
Status ExpandLayerNormalizationStatistics(Composer& c) {
  const ir::Node& node = c.node();
  c.Output(0, c.Op("LayerNormalization", node.inputs, node.attrs));
  const ir::ValueId x = Wide(c, c.In(0));
  const int rank = c.Shape(x).rank();
  AICF_ASSIGN_OR_RETURN(const int axis, ir::NormalizeAxis(node.Int("axis", -1), rank));
  const Moments m = MomentsOf(c, x, AxesFrom(axis, rank));
  const ir::ValueId deviation = c.Op("Sqrt", {Plus(c, m.variance, node.Float("epsilon", 1e-5))});
  c.Output(1, c.Cast(m.mean, DType::kF32));
  c.Output(2, c.Cast(c.Op("Reciprocal", {deviation}), DType::kF32));
  return c.status();
}

Status ExpandMeanVarianceNormalization(Composer& c) {
  const ir::ValueId x = Wide(c, c.In(0));
  const std::vector<int64_t> axes =
      c.node().Has("axes") ? c.node().Ints("axes") : std::vector<int64_t>{0, 2, 3};
  const Moments m = MomentsOf(c, x, axes);
  // The standard's own definition keeps constant data finite this way.
  const ir::ValueId deviation = Plus(c, c.Op("Sqrt", {m.variance}), 1e-9);
  c.Output(0, c.Cast(c.Op("Div", {m.centred, deviation}), c.Type(c.In(0))));
  return c.status();
}

// Becomes an instance normalisation in which each group is one "channel". Scale and bias are per
// channel, or in the form of opset 18 per group.
Status ExpandGroupNormalization(Composer& c) {
  const Dims shape = c.Shape(c.In(0)), parameters = c.Shape(c.In(1));
  const int64_t groups = c.node().Int("num_groups", 0);
  if (shape.rank() < 2 || groups < 1 || shape[1] % groups != 0) {
    return Error(Code::kBadModel, groups, " groups do not divide the channels of ",
                 ToString(shape));
  }
  const bool per_group = parameters == Dims{groups} && groups != shape[1];
  if (!per_group && !(parameters == Dims{shape[1]})) {
    return Error(Code::kBadModel, "scale has shape ", ToString(parameters), ", expected ",
                 shape[1]);
  }
  const ir::ValueId x = Wide(c, c.In(0));
  const DType dtype = c.Type(x);
  const int64_t batch = shape[0];
  int64_t each = shape[1] / groups;
  for (int i = 2; i < shape.rank(); ++i) each *= shape[i];
  const ir::ValueId one = c.Filled(1, dtype, {groups}), zero = c.Filled(0, dtype, {groups});
  const ir::ValueId scale = c.Cast(c.In(1), dtype), bias = c.Cast(c.In(2), dtype);
  const ir::ValueId unit =
      c.Op("InstanceNormalization",
           {c.Reshape(x, {batch, groups, each}), per_group ? scale : one, per_group ? bias : zero},
           {{"epsilon", c.node().Float("epsilon", 1e-5)}});
  ir::ValueId y = c.Reshape(unit, shape);
  if (!per_group) {
    const Dims channels = AlongAxis(shape.rank(), 1, shape[1]);
    y = c.Add(c.Mul(y, c.Reshape(scale, channels)), c.Reshape(bias, channels));
  }
  c.Output(0, c.Cast(y, c.Type(c.In(0))));
  return c.status();
}

// Where the norm is zero, so are the elements; they are divided by 1 and stay zero.
Status ExpandLpNormalization(Composer& c) {
  const int64_t p = c.node().Int("p", 2);
  if (p != 1 && p != 2) return Error(Code::kBadModel, "p is ", p, ", expected 1 or 2");
  const ir::ValueId x = Wide(c, c.In(0));
  const DType dtype = c.Type(x);
  const ir::ValueId norm =
      Reduce(c, p == 1 ? "ReduceL1" : "ReduceL2", x, {c.node().Int("axis", -1)}, true);
  const ir::ValueId zero = c.Op("Equal", {norm, c.Scalar(0, dtype)});
  const ir::ValueId divisor = c.Op("Where", {zero, c.Scalar(1, dtype), norm});
  c.Output(0, c.Cast(c.Op("Div", {x, divisor}), c.Type(c.In(0))));
  return c.status();
}

// An average pool over an image that has one row per channel gives the sum of the squares of
// neighbouring channels, divided by `size`.
Status ExpandLRN(Composer& c) {
  const ir::ValueId x = Wide(c, c.In(0));
  const Dims shape = c.Shape(x);
  const int64_t size = c.node().Int("size", 0);
  if (shape.rank() < 2 || size < 1) {
    return Error(Code::kBadModel, "size ", size, " over the channels of ", ToString(shape));
  }
  int64_t pixels = 1;
  for (int i = 2; i < shape.rank(); ++i) pixels *= shape[i];
  const int64_t before = (size - 1) / 2;
  ir::ValueId mean = c.Op("AveragePool", {c.Reshape(c.Mul(x, x), {shape[0], 1, shape[1], pixels})},
                          {{"kernel_shape", std::vector<int64_t>{size, 1}},
                           {"pads", std::vector<int64_t>{before, 0, size - 1 - before, 0}},
                           {"count_include_pad", int64_t{1}}});
  mean = c.Reshape(mean, shape);
  const ir::ValueId base =
      Plus(c, c.Scaled(mean, c.node().Float("alpha", 1e-4)), c.node().Float("bias", 1));
  const ir::ValueId power = c.Scalar(c.node().Float("beta", 0.75), c.Type(x));
  c.Output(0, c.Cast(c.Op("Div", {x, c.Op("Pow", {base, power})}), c.Type(c.In(0))));
  return c.status();
}

// Normalises by the statistics of the batch, and moves the running statistics towards them.
Status ExpandBatchNormalizationTraining(Composer& c) {
  const ir::ValueId x = Wide(c, c.In(0));
  const Dims shape = c.Shape(x);
  if (shape.rank() < 2) return Error(Code::kUnsupported, "training without a channel axis");
  std::vector<int64_t> axes = AxesFrom(2, shape.rank());
  axes.insert(axes.begin(), 0);
  const Moments m = MomentsOf(c, x, axes);
  const Dims channels = AlongAxis(shape.rank(), 1, shape[1]);
  const auto parameter = [&](size_t i) { return c.Reshape(c.Cast(c.In(i), c.Type(x)), channels); };
  const ir::ValueId deviation =
      c.Op("Sqrt", {Plus(c, m.variance, c.node().Float("epsilon", 1e-5))});
  const ir::ValueId unit = c.Op("Div", {m.centred, deviation});
  c.Output(0, c.Cast(c.Add(c.Mul(unit, parameter(1)), parameter(2)), c.Type(c.In(0))));
  const double momentum = c.node().Float("momentum", 0.9);
  const auto running = [&](size_t input, ir::ValueId batch) {
    const ir::ValueId moved =
        c.Add(c.Scaled(parameter(input), momentum), c.Scaled(batch, 1 - momentum));
    return c.Cast(c.Reshape(moved, {shape[1]}), c.Type(c.In(input)));
  };
  c.Output(1, running(3, m.mean));
  c.Output(2, running(4, m.variance));
  return c.status();
}

}  // namespace aicf
