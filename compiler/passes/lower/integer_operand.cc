#include "compiler/passes/lower/integer_operand.h"

#include <algorithm>
#include <limits>

#include "base/float16.h"
#include "compiler/ir/views.h"
#include "compiler/passes/lower/requantize.h"

namespace aicf {
namespace {

// Elements of a dense tensor under `shape`, repeated to `domain`, in row-major order.
std::vector<int64_t> Repeated(const ir::Tensor& t, const Dims& shape, const Dims& domain) {
  const abi::View view = ir::BroadcastTo(abi::DenseView(t.dtype(), shape), domain);
  std::vector<int64_t> out(static_cast<size_t>(*ElementCount(domain)));
  Dims at = Dims::Filled(domain.rank(), 0);
  for (int64_t& v : out) {
    int64_t from = 0;
    for (int i = 0; i < domain.rank(); ++i) from += at[i] * view.strides[i];
    v = t.IntAt(from);
    for (int i = domain.rank() - 1; i >= 0 && ++at[i] == domain[i]; --i) at[i] = 0;
  }
  return out;
}

template <class T>
ir::Tensor TensorOf(DType dtype, const Dims& shape, const std::vector<int64_t>& values) {
  const std::vector<T> narrow(values.begin(), values.end());
  return ir::Tensor::FromValues<T>(dtype, shape, std::span<const T>(narrow));
}

ir::Tensor Differences(const ir::Tensor& data, const ir::Tensor& zero, const Dims& zero_shape) {
  std::vector<int64_t> values = Repeated(zero, zero_shape, data.shape());
  bool narrow = true;
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = data.IntAt(static_cast<int64_t>(i)) - values[i];
    narrow = narrow && values[i] >= -128 && values[i] <= 127;
  }
  return narrow ? TensorOf<int8_t>(DType::kI8, data.shape(), values)
                : TensorOf<int16_t>(DType::kI16, data.shape(), values);
}

// A float8 constant as f16, a dtype that products can multiply.
ir::Tensor HalfOf(const ir::Tensor& float8) {
  std::vector<uint16_t> half;
  for (int64_t i = 0; i < float8.count(); ++i) {
    half.push_back(F32ToF16(static_cast<float>(float8.FloatAt(i))));
  }
  return ir::Tensor::FromValues<uint16_t>(DType::kF16, float8.shape(),
                                          std::span<const uint16_t>(half));
}

// Emits one step that computes data - zero (or only data) in the dtype `to`, in the axis order of
// the data.
ValueView Subtract(LowerContext& ctx, const ir::Node& node, ir::ValueId data, ir::ValueId zero,
                   const Dims& zero_shape, DType to) {
  const ValueView in = ctx.Get(data);
  const DType compute = abi::ComputeDType(to);
  OperandExpr expr(0);
  abi::ExprBuilder& b = expr.builder();
  uint16_t value = b.Cast(expr.Load(in), compute);
  if (!IsZeroOrAbsent(ctx, zero)) {
    const auto place = [&](const abi::View& v) {
      return ir::BroadcastTo(*ir::Reshape(v, zero_shape), in.view.shape);
    };
    const uint16_t by = LoadParameter(ctx, expr, zero, in.view.shape, place);
    value = b.Binary(abi::ExprOp::kSub, value, b.Cast(by, compute));
  }
  const ValueView out = ctx.Temp(StrCat(ctx.value(data).name, " without zero point"), to,
                                 in.view.shape, ir::AxisOrder(in.view));
  EmitElementwise(ctx, node, expr, value, out);
  return out;
}

}  // namespace

bool IsZeroOrAbsent(LowerContext& ctx, ir::ValueId id) {
  if (id == ir::kNoValue) return true;
  const ir::Tensor& t = ctx.value(id).constant;
  if (!t.has_data()) return false;
  for (int64_t i = 0; i < t.count(); ++i) {
    if (t.FloatAt(i) != 0) return false;
  }
  return true;
}

QuantizedOperand WithoutZeroPoint(LowerContext& ctx, const ir::Node& node, ir::ValueId data,
                                  ir::ValueId zero, const Dims& zero_shape) {
  const ir::Value& v = ctx.value(data);
  const bool plain = IsZeroOrAbsent(ctx, zero);
  if (!IsFloat(v.dtype) && plain) return {ctx.Get(data), v.constant};
  if (IsFloat(v.dtype) && plain && v.is_constant()) {
    const ir::Tensor half = HalfOf(v.constant);
    return {ctx.Constant(StrCat(v.name, " as f16"), half), half};
  }
  if (!IsFloat(v.dtype) && v.is_constant() && ctx.value(zero).is_constant()) {
    const ir::Tensor t = Differences(v.constant, ctx.value(zero).constant, zero_shape);
    return {ctx.Constant(StrCat(v.name, " without zero point"), t), t};
  }
  const DType to = !IsFloat(v.dtype) ? DType::kI16 : plain ? DType::kF16 : DType::kF32;
  return {Subtract(ctx, node, data, zero, zero_shape, to), {}};
}

ir::Tensor ColumnSums(const ir::Tensor& matrix) {
  Dims shape = matrix.shape();
  const int rank = shape.rank();
  const int64_t depth = shape[rank - 2], columns = shape[rank - 1];
  shape[rank - 2] = 1;
  std::vector<int32_t> sums(static_cast<size_t>(*ElementCount(shape)));
  for (int64_t i = 0; i < matrix.count(); ++i) {
    const int64_t batch = i / (depth * columns);
    // Sums wrap like those of the product.
    uint32_t& sum =
        reinterpret_cast<uint32_t&>(sums[static_cast<size_t>(batch * columns + i % columns)]);
    sum += static_cast<uint32_t>(matrix.IntAt(i));
  }
  return ir::Tensor::FromValues<int32_t>(DType::kI32, shape, std::span<const int32_t>(sums));
}

ir::Tensor FilterSums(const ir::Tensor& weights) {
  const int64_t filters = weights.shape()[0];
  const int64_t each = filters > 0 ? weights.count() / filters : 0;
  std::vector<int32_t> sums(static_cast<size_t>(filters));
  for (int64_t i = 0; i < weights.count(); ++i) {
    uint32_t& sum = reinterpret_cast<uint32_t&>(sums[static_cast<size_t>(i / each)]);
    sum += static_cast<uint32_t>(weights.IntAt(i));
  }
  return ir::Tensor::FromValues<int32_t>(DType::kI32, Dims{filters},
                                         std::span<const int32_t>(sums));
}

ir::Tensor Times(const ir::Tensor& tensor, int64_t by) {
  std::vector<int32_t> products;
  for (int64_t i = 0; i < tensor.count(); ++i) {
    const uint32_t product = static_cast<uint32_t>(tensor.IntAt(i)) * static_cast<uint32_t>(by);
    products.push_back(static_cast<int32_t>(product));
  }
  return ir::Tensor::FromValues<int32_t>(DType::kI32, tensor.shape(),
                                         std::span<const int32_t>(products));
}

}  // namespace aicf
