#include "kernels/cpu/reduce/accumulate.h"

#include <cmath>
#include <limits>

#include "kernels/cpu/expr/scalar_ops.h"

namespace aicf::cpu {
namespace {

using abi::ReduceKind;

bool WantsSmaller(ReduceKind kind) {
  return kind == ReduceKind::kMin || kind == ReduceKind::kArgMin;
}

Scalar Identity(ReduceKind kind, DType dtype) {
  const double one = kind == ReduceKind::kProd ? 1.0 : 0.0;
  if (kind == ReduceKind::kSum || kind == ReduceKind::kProd || kind == ReduceKind::kMean) {
    return IsFloat(dtype) ? FloatScalar(one) : IntScalar(static_cast<int64_t>(one));
  }
  const double infinity = std::numeric_limits<double>::infinity();
  return ScalarFromDouble(WantsSmaller(kind) ? infinity : -infinity, dtype);
}

bool IsNan(Scalar v, DType dtype) { return IsFloat(dtype) && std::isnan(v.f); }

bool Less(Scalar a, Scalar b, DType dtype) {
  if (IsFloat(dtype)) return a.f < b.f;
  return IntegerBinary(abi::ExprOp::kLt, a.i, b.i, dtype) != 0;
}

}  // namespace

Accumulator::Accumulator(ReduceKind kind, bool last_index, DType dtype)
    : kind_(kind), last_index_(last_index), dtype_(dtype), value_(Identity(kind, dtype)) {
  if (dtype == DType::kBool && kind == ReduceKind::kMax) value_ = IntScalar(0);
}

bool Accumulator::Better(Scalar value) const {
  if (count_ == 0) return true;
  if (IsNan(value_, dtype_)) return false;
  if (IsNan(value, dtype_)) return true;
  const bool better =
      WantsSmaller(kind_) ? Less(value, value_, dtype_) : Less(value_, value, dtype_);
  const bool worse =
      WantsSmaller(kind_) ? Less(value_, value, dtype_) : Less(value, value_, dtype_);
  return better || (last_index_ && !worse);
}

void Accumulator::AddExtreme(Scalar value) {
  if (!Better(value)) return;
  value_ = value;
  position_ = count_;
}

void Accumulator::Add(Scalar value) {
  const bool is_float = IsFloat(dtype_);
  switch (kind_) {
    case ReduceKind::kSum:
    case ReduceKind::kMean:
      value_ = is_float
                   ? FloatScalar(value_.f + value.f)
                   : IntScalar(IntegerBinary(abi::ExprOp::kAdd, value_.i, value.i, DType::kI64));
      break;
    case ReduceKind::kProd:
      value_ = is_float
                   ? FloatScalar(value_.f * value.f)
                   : IntScalar(IntegerBinary(abi::ExprOp::kMul, value_.i, value.i, DType::kI64));
      break;
    default:
      AddExtreme(value);
  }
  ++count_;
}

Scalar Accumulator::Finish() const {
  if (kind_ == ReduceKind::kArgMin || kind_ == ReduceKind::kArgMax) return IntScalar(position_);
  const bool is_float = IsFloat(dtype_);
  if (kind_ == ReduceKind::kMean) {
    if (is_float) return ScalarFromDouble(value_.f / static_cast<double>(count_), dtype_);
    const DType wide = KindOf(dtype_) == DTypeKind::kSigned ? DType::kI64 : DType::kU64;
    return IntScalar(WrapInteger(IntegerBinary(abi::ExprOp::kDiv, value_.i, count_, wide), dtype_));
  }
  return is_float ? ScalarFromDouble(value_.f, dtype_) : IntScalar(WrapInteger(value_.i, dtype_));
}

}  // namespace aicf::cpu
