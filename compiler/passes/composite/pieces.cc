#include "compiler/passes/composite/pieces.h"

#include "compiler/ir/infer/infer.h"
#include "compiler/ir/infer/not_constant.h"

namespace aicf {

ir::ValueId Wide(Composer& c, ir::ValueId v) {
  const DType dtype = c.Type(v);
  return dtype == DType::kF16 || dtype == DType::kBF16 ? c.Cast(v, DType::kF32) : v;
}

Status CheckTable(const Dims& shape) {
  const std::optional<int64_t> count = ElementCount(shape);
  if (count && *count <= kMaxTableElements) return OkStatus();
  return Error(Code::kResource, "it needs a constant of shape ", ToString(shape),
               ", and those have at most ", kMaxTableElements, " elements");
}

ir::ValueId Number(Composer& c, double value, DType dtype) {
  return c.Cast(c.Constant(ir::Tensor::FromValues<double>(DType::kF64, {}, std::span(&value, 1))),
                dtype);
}

ir::ValueId Floats(Composer& c, const std::vector<double>& values, const Dims& shape, DType dtype) {
  if (dtype == DType::kF64) {
    return c.Constant(ir::Tensor::FromValues<double>(dtype, shape, std::span(values)));
  }
  const std::vector<float> single(values.begin(), values.end());
  return c.Cast(c.Constant(ir::Tensor::FromValues<float>(DType::kF32, shape, std::span(single))),
                dtype);
}

ir::ValueId Reduce(Composer& c, std::string_view op, ir::ValueId v,
                   const std::vector<int64_t>& axes, bool keepdims) {
  if (axes.empty()) return v;
  return c.Op(op, {v, c.Ints(axes)}, {{"keepdims", int64_t{keepdims ? 1 : 0}}});
}

Dims WithExtent(Dims shape, int axis, int64_t extent) {
  shape[axis] = extent;
  return shape;
}

Dims AlongAxis(int rank, int axis, int64_t extent) {
  return WithExtent(Dims::Filled(rank, 1), axis, extent);
}

std::vector<int64_t> AxesFrom(int64_t first, int rank) {
  std::vector<int64_t> axes;
  for (int64_t i = first; i < rank; ++i) axes.push_back(i);
  return axes;
}

ir::ValueId Hits(Composer& c, ir::ValueId indices, int axis, int64_t count) {
  Dims shape = c.Shape(indices);
  if (shape.rank() >= kMaxRank) {
    c.Fail(Error(Code::kUnsupported, "needs rank ", shape.rank() + 1, ", at most ", kMaxRank,
                 " is supported"));
    return ir::kNoValue;
  }
  shape.insert(axis, 1);
  return c.Op("Equal",
              {c.Reshape(indices, shape), c.Counting(0, AlongAxis(shape.rank(), axis, count))});
}

Result<double> ConstantNumber(const Composer& c, size_t input, std::string_view what) {
  const ir::Value& v = c.graph().values[c.In(input)];
  if (!v.is_constant()) return ir::NotConstant(c.graph(), c.In(input), what);
  if (v.constant.count() != 1) {
    return Error(Code::kBadModel, what, " has shape ", ToString(v.shape), ", expected a scalar");
  }
  return IsFloat(v.dtype) ? v.constant.FloatAt(0) : static_cast<double>(v.constant.IntAt(0));
}

Result<int64_t> ConstantInt(const Composer& c, size_t input, std::string_view what) {
  AICF_ASSIGN_OR_RETURN(const double value, ConstantNumber(c, input, what));
  // Also false for NaN.
  if (!(value >= -0x1p53 && value <= 0x1p53)) {
    return Error(Code::kBadModel, what, " is ", value);
  }
  return static_cast<int64_t>(value);
}

std::vector<int64_t> IntsOr(const ir::Node& node, std::string_view key, size_t n, int64_t value) {
  return node.Has(key) ? node.Ints(key) : std::vector<int64_t>(n, value);
}

}  // namespace aicf
