#include <algorithm>

#include "kernels/cpu/expr/scalar_ops.h"

namespace aicf::cpu {
namespace {

using abi::ExprOp;

uint64_t U(int64_t v) { return static_cast<uint64_t>(v); }
int64_t S(uint64_t v) { return static_cast<int64_t>(v); }

bool Unsigned(DType d) { return KindOf(d) != DTypeKind::kSigned; }

int64_t Divide(int64_t a, int64_t b, DType dtype) {
  if (b == 0) return 0;
  if (Unsigned(dtype)) return S(U(a) / U(b));
  if (b == -1) return S(0 - U(a));  // INT64_MIN / -1 traps
  return a / b;
}

int64_t Remainder(int64_t a, int64_t b, DType dtype) {
  if (b == 0) return 0;
  if (Unsigned(dtype)) return S(U(a) % U(b));
  return b == -1 ? 0 : a % b;
}

int64_t PythonMod(int64_t a, int64_t b, DType dtype) {
  const int64_t r = Remainder(a, b, dtype);
  return !Unsigned(dtype) && r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

int64_t Power(int64_t base, int64_t exponent, DType dtype) {
  if (!Unsigned(dtype) && exponent < 0) {
    if (base == 1) return 1;
    if (base == -1) return exponent % 2 == 0 ? 1 : -1;
    return 0;
  }
  uint64_t result = 1;
  uint64_t square = U(base);
  for (uint64_t e = U(exponent); e != 0; e >>= 1) {
    if (e & 1) result *= square;
    square *= square;
  }
  return S(result);
}

bool Less(int64_t a, int64_t b, DType dtype) { return Unsigned(dtype) ? U(a) < U(b) : a < b; }

int64_t ShiftLeft(int64_t a, int64_t by, DType dtype) {
  const uint64_t bits = U(DTypeBytes(dtype) * 8);
  return U(by) >= bits ? 0 : S(U(a) << by);
}

int64_t ShiftRight(int64_t a, int64_t by, DType dtype) {
  const uint64_t bits = U(DTypeBytes(dtype) * 8);
  if (Unsigned(dtype)) return U(by) >= bits ? 0 : S(U(a) >> by);
  return a >> std::min(U(by), bits - 1);
}

}  // namespace

int64_t WrapInteger(int64_t v, DType dtype) {
  switch (dtype) {
    case DType::kI8:
      return static_cast<int8_t>(v);
    case DType::kI16:
      return static_cast<int16_t>(v);
    case DType::kI32:
      return static_cast<int32_t>(v);
    case DType::kU8:
      return static_cast<uint8_t>(v);
    case DType::kU16:
      return static_cast<uint16_t>(v);
    case DType::kU32:
      return static_cast<uint32_t>(v);
    case DType::kI4:
      return ((v & 0xf) ^ 0x8) - 0x8;
    case DType::kU4:
      return v & 0xf;
    case DType::kI2:
      return ((v & 0x3) ^ 0x2) - 0x2;
    case DType::kU2:
      return v & 0x3;
    case DType::kBool:
      return v != 0;
    default:
      return v;
  }
}

int64_t IntegerUnary(ExprOp op, int64_t a, DType dtype) {
  switch (op) {
    case ExprOp::kNeg:
      return WrapInteger(S(0 - U(a)), dtype);
    case ExprOp::kAbs:
      return Less(a, 0, dtype) ? WrapInteger(S(0 - U(a)), dtype) : a;
    case ExprOp::kSign:
      return Less(a, 0, dtype) ? -1 : a != 0;
    case ExprOp::kNot:
      return dtype == DType::kBool ? a == 0 : WrapInteger(~a, dtype);
    default:
      return 0;  // no other operator takes one integer
  }
}

int64_t IntegerBinary(ExprOp op, int64_t a, int64_t b, DType dtype) {
  switch (op) {
    case ExprOp::kAdd:
      return WrapInteger(S(U(a) + U(b)), dtype);
    case ExprOp::kSub:
      return WrapInteger(S(U(a) - U(b)), dtype);
    case ExprOp::kMul:
      return WrapInteger(S(U(a) * U(b)), dtype);
    case ExprOp::kDiv:
      return WrapInteger(Divide(a, b, dtype), dtype);
    case ExprOp::kMod:
      return WrapInteger(PythonMod(a, b, dtype), dtype);
    case ExprOp::kFmod:
      return WrapInteger(Remainder(a, b, dtype), dtype);
    case ExprOp::kPow:
      return WrapInteger(Power(a, b, dtype), dtype);
    case ExprOp::kMin:
      return Less(b, a, dtype) ? b : a;
    case ExprOp::kMax:
      return Less(a, b, dtype) ? b : a;
    case ExprOp::kEq:
      return a == b;
    case ExprOp::kLt:
      return Less(a, b, dtype);
    case ExprOp::kLe:
      return !Less(b, a, dtype);
    case ExprOp::kAnd:
      return a & b;
    case ExprOp::kOr:
      return a | b;
    case ExprOp::kXor:
      return a ^ b;
    case ExprOp::kShl:
      return WrapInteger(ShiftLeft(a, b, dtype), dtype);
    case ExprOp::kShr:
      return WrapInteger(ShiftRight(a, b, dtype), dtype);
    default:
      return 0;  // no other operator takes two integers
  }
}

}  // namespace aicf::cpu
