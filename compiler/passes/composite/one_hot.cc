// Ops whose result says where an index is.
#include "compiler/ir/infer/infer.h"
#include "compiler/ir/legacy.h"
#include "compiler/ir/onnx_dtype.h"
#include "compiler/passes/composite/composites.h"
#include "compiler/passes/composite/pieces.h"

namespace aicf {

// Indices below zero count from the end. An index that is out of range matches no position, so that
// all of them have the value "off".
Status ExpandOneHot(Composer& c) {
  AICF_ASSIGN_OR_RETURN(const int64_t depth, ConstantInt(c, 1, "depth"));
  const int rank = c.Shape(c.In(0)).rank() + 1;
  if (depth < 1) return Error(Code::kBadModel, "depth is ", depth);
  if (!(c.Shape(c.In(2)) == Dims{2})) {
    return Error(Code::kBadModel, "values has shape ", ToString(c.Shape(c.In(2))), ", expected 2");
  }
  AICF_ASSIGN_OR_RETURN(const int axis, ir::NormalizeAxis(c.node().Int("axis", -1), rank));
  const ir::ValueId given = c.Cast(c.In(0), DType::kI64);
  const auto number = [&](int64_t v) { return Number(c, static_cast<double>(v), DType::kI64); };
  const ir::ValueId index =
      c.Op("Where", {c.Op("Less", {given, number(0)}), c.Add(given, number(depth)), given});
  const ir::ValueId hits = Hits(c, index, axis, depth);
  const ir::ValueId off = c.Reshape(c.Window(c.In(2), 0, 0, 1), {});
  const ir::ValueId on = c.Reshape(c.Window(c.In(2), 0, 1, 1), {});
  c.Output(0, c.Op("Where", {hits, on, off}));
  return c.status();
}

Status ExpandEyeLike(Composer& c) {
  const Dims shape = c.Shape(c.In(0));
  if (shape.rank() != 2) return Error(Code::kBadModel, "its input has rank ", shape.rank());
  DType dtype = c.Type(c.In(0));
  if (c.node().Has("dtype")) {
    AICF_ASSIGN_OR_RETURN(dtype, DTypeOfOnnx(c.node().Int("dtype", 0)));
  }
  // Limiting k changes nothing: a diagonal far outside the matrix is as empty as one just outside.
  const int64_t limit = shape[0] + shape[1];
  const int64_t k = std::clamp(c.node().Int("k", 0), -limit, limit);
  c.Output(0,
           c.Cast(c.Op("Equal", {c.Counting(k, {shape[0], 1}), c.Counting(0, {shape[1]})}), dtype));
  return c.status();
}

// Nodes of older opsets, which carry the mark kLegacyFlatten, have one maximum over all axes from
// `axis` on.
Status ExpandHardmax(Composer& c) {
  const Dims shape = c.Shape(c.In(0));
  AICF_ASSIGN_OR_RETURN(int axis, ir::NormalizeAxis(c.node().Int("axis", -1), shape.rank()));
  ir::ValueId x = c.In(0);
  if (c.node().Int(ir::kLegacyFlatten, 0) != 0) {
    x = c.Op("Flatten", {x}, {{"axis", int64_t{axis}}});
    axis = 1;
  }
  AICF_RETURN_IF_ERROR(c.status());
  const ir::ValueId first =
      c.Op("ArgMax", {x}, {{"axis", int64_t{axis}}, {"keepdims", int64_t{0}}});
  const ir::ValueId y = c.Cast(Hits(c, first, axis, c.Shape(x)[axis]), c.Type(x));
  c.Output(0, c.Reshape(y, shape));
  return c.status();
}

Status ExpandDropout(Composer& c) {
  if (c.Has(2)) {
    AICF_ASSIGN_OR_RETURN(const int64_t training, ConstantInt(c, 2, "training_mode"));
    double ratio = 0.5;
    if (training != 0 && c.Has(1)) {
      AICF_ASSIGN_OR_RETURN(ratio, ConstantNumber(c, 1, "ratio"));
    }
    if (training != 0 && ratio != 0) {
      return Error(Code::kUnsupported, "training (training_mode is true): random results");
    }
  }
  c.Output(0, c.In(0));
  c.Output(1, c.Cast(c.Filled(1, DType::kF32, c.Shape(c.In(0))), DType::kBool));
  return c.status();
}

}  // namespace aicf
