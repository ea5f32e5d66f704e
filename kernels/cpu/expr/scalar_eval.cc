#include "kernels/cpu/expr/scalar_eval.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "base/float16.h"
#include "base/float8.h"
#include "kernels/cpu/expr/scalar_ops.h"

namespace aicf::cpu {
namespace {

using abi::ExprNode;
using abi::ExprOp;

double RoundTo(double value, DType dtype) {
  return dtype == DType::kF32 ? static_cast<double>(static_cast<float>(value)) : value;
}

/// Smallest and largest value of an integer dtype as doubles; saturation compares against them.
double Lowest(DType d) {
  return KindOf(d) == DTypeKind::kSigned ? -std::ldexp(1.0, static_cast<int>(DTypeBytes(d)) * 8 - 1)
                                         : 0.0;
}
double PastHighest(DType d) {
  const int bits = static_cast<int>(DTypeBytes(d)) * 8;
  return std::ldexp(1.0, KindOf(d) == DTypeKind::kSigned ? bits - 1 : bits);
}

int64_t HighestInteger(DType d) {
  const int bits = static_cast<int>(DTypeBytes(d)) * 8 - (KindOf(d) == DTypeKind::kSigned ? 1 : 0);
  return bits == 64 ? -1 : static_cast<int64_t>((uint64_t{1} << bits) - 1);
}

int64_t SaturatedInteger(double v, DType to) {
  if (to == DType::kBool) return v != 0;  // NaN is not zero
  if (std::isnan(v)) return 0;
  const double whole = std::trunc(v);
  if (whole >= PastHighest(to)) return HighestInteger(to);
  if (whole <= Lowest(to))
    return KindOf(to) == DTypeKind::kSigned ? static_cast<int64_t>(Lowest(to)) : 0;
  if (whole >= 0x1p63) return static_cast<int64_t>(static_cast<uint64_t>(whole));
  return static_cast<int64_t>(whole);
}

template <class T>
T Read(const void* address) {
  T value;
  std::memcpy(&value, address, sizeof value);
  return value;
}

template <class T>
void Write(void* address, T value) {
  std::memcpy(address, &value, sizeof value);
}

/// Float comparison of a node whose operands are floats.
bool Compare(ExprOp op, double a, double b) {
  if (op == ExprOp::kEq) return a == b;
  return op == ExprOp::kLt ? a < b : a <= b;
}

Scalar Unary(const ExprNode& n, DType operand, Scalar a) {
  if (n.op == ExprOp::kCast) return CastScalar(a, operand, n.dtype);
  if (n.op == ExprOp::kIsNan) return IntScalar(std::isnan(a.f));
  if (n.op == ExprOp::kIsInf) return IntScalar(std::isinf(a.f));
  if (!IsFloat(n.dtype)) return IntScalar(IntegerUnary(n.op, a.i, n.dtype));
  return FloatScalar(RoundTo(FloatUnary(n.op, a.f, n.dtype == DType::kF32), n.dtype));
}

Scalar Binary(const ExprNode& n, DType operand, Scalar a, Scalar b) {
  if (!IsFloat(operand)) return IntScalar(IntegerBinary(n.op, a.i, b.i, operand));
  if (n.dtype == DType::kBool) return IntScalar(Compare(n.op, a.f, b.f));
  return FloatScalar(RoundTo(FloatBinary(n.op, a.f, b.f), n.dtype));
}

}  // namespace

Scalar ScalarFromDouble(double value, DType to) {
  return IsFloat(to) ? FloatScalar(RoundTo(value, to)) : IntScalar(SaturatedInteger(value, to));
}

double ScalarToDouble(Scalar value, DType dtype) {
  if (IsFloat(dtype)) return value.f;
  if (dtype == DType::kU64) return static_cast<double>(static_cast<uint64_t>(value.i));
  return static_cast<double>(value.i);
}

Scalar CastScalar(Scalar value, DType from, DType to) {
  if (IsFloat(from)) return ScalarFromDouble(value.f, to);
  if (!IsFloat(to)) return IntScalar(WrapInteger(value.i, to));
  // Converted straight to f32: by way of double, a large integer would be rounded twice.
  if (to == DType::kF32) {
    return FloatScalar(from == DType::kU64 ? static_cast<float>(static_cast<uint64_t>(value.i))
                                           : static_cast<float>(value.i));
  }
  return FloatScalar(ScalarToDouble(value, from));
}

Scalar LoadScalar(const void* p, DType storage) {
  switch (storage) {
    case DType::kF32:
      return FloatScalar(Read<float>(p));
    case DType::kF64:
      return FloatScalar(Read<double>(p));
    case DType::kF16:
      return FloatScalar(F16ToF32(Read<uint16_t>(p)));
    case DType::kBF16:
      return FloatScalar(BF16ToF32(Read<uint16_t>(p)));
    case DType::kI8:
    case DType::kI4:
    case DType::kI2:
      return IntScalar(Read<int8_t>(p));
    case DType::kI16:
      return IntScalar(Read<int16_t>(p));
    case DType::kI32:
      return IntScalar(Read<int32_t>(p));
    case DType::kI64:
      return IntScalar(Read<int64_t>(p));
    case DType::kU8:
    case DType::kU4:
    case DType::kU2:
      return IntScalar(Read<uint8_t>(p));
    case DType::kU16:
      return IntScalar(Read<uint16_t>(p));
    case DType::kU32:
      return IntScalar(Read<uint32_t>(p));
    case DType::kU64:
      return IntScalar(static_cast<int64_t>(Read<uint64_t>(p)));
    case DType::kBool:
      return IntScalar(Read<uint8_t>(p) != 0);
    case DType::kF8E4M3FN:
    case DType::kF8E4M3FNUZ:
    case DType::kF8E5M2:
    case DType::kF8E5M2FNUZ:
    case DType::kF8E8M0:
    case DType::kF4E2M1:
      return FloatScalar(Float8ToF32(Read<uint8_t>(p), storage));
  }
  return IntScalar(0);
}

void StoreScalar(void* p, DType storage, Scalar value) {
  switch (storage) {
    case DType::kF32:
      return Write(p, static_cast<float>(value.f));
    case DType::kF64:
      return Write(p, value.f);
    case DType::kF16:
      return Write(p, F32ToF16(static_cast<float>(value.f)));
    case DType::kBF16:
      return Write(p, F32ToBF16(static_cast<float>(value.f)));
    case DType::kI8:
    case DType::kU8:
      return Write(p, static_cast<uint8_t>(value.i));
    case DType::kI16:
    case DType::kU16:
      return Write(p, static_cast<uint16_t>(value.i));
    case DType::kI32:
    case DType::kU32:
      return Write(p, static_cast<uint32_t>(value.i));
    case DType::kI64:
    case DType::kU64:
      return Write(p, value.i);
    case DType::kI4:
    case DType::kU4:
    case DType::kI2:
    case DType::kU2:
      return Write(p, static_cast<uint8_t>(WrapInteger(value.i, storage)));
    case DType::kBool:
      return Write(p, static_cast<uint8_t>(value.i != 0));
    case DType::kF8E4M3FN:
    case DType::kF8E4M3FNUZ:
    case DType::kF8E5M2:
    case DType::kF8E5M2FNUZ:
    case DType::kF8E8M0:
    case DType::kF4E2M1:
      return Write(p, F32ToFloat8(static_cast<float>(value.f), storage));
  }
}

Scalar ConstantOf(const ExprNode& n) {
  if (IsFloat(n.dtype)) return FloatScalar(RoundTo(abi::BitsToFloat(n.imm), n.dtype));
  return IntScalar(WrapInteger(static_cast<int64_t>(n.imm), n.dtype));
}

Scalar EvalOperator(const ExprNode& n, DType operand, Scalar a, Scalar b, Scalar c) {
  if (n.op == ExprOp::kSelect) return a.i != 0 ? b : c;
  if (n.op == ExprOp::kFma) {
    return FloatScalar(RoundTo(FloatFma(a.f, b.f, c.f, n.dtype == DType::kF32), n.dtype));
  }
  return abi::ExprOpArity(n.op) == 1 ? Unary(n, operand, a) : Binary(n, operand, a, b);
}

void EvalScalar(const abi::Expr& expr, const Scalar* inputs, const int64_t* coords,
                Scalar* results) {
  Scalar values[abi::kMaxExprNodes];
  values[0] = IntScalar(0);  // arguments that a node does not use point here
  const int count = static_cast<int>(expr.nodes.size());
  for (int i = 0; i < count; ++i) {
    const ExprNode& n = expr.nodes[static_cast<size_t>(i)];
    switch (n.op) {
      case ExprOp::kInput:
        values[i] = inputs[n.imm];
        break;
      case ExprOp::kConst:
        values[i] = ConstantOf(n);
        break;
      case ExprOp::kIndex:
        values[i] = IntScalar(coords[n.imm]);
        break;
      default:
        values[i] = EvalOperator(n, expr.nodes[n.args[0]].dtype, values[n.args[0]],
                                 values[n.args[1]], values[n.args[2]]);
    }
  }
  for (size_t r = 0; r < expr.results.size(); ++r) results[r] = values[expr.results[r]];
}

}  // namespace aicf::cpu
