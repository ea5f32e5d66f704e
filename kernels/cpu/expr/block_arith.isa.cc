// Arithmetic, comparisons and logic of the dtypes that models compute with. Other dtypes take the
// slow path.
#include <type_traits>

#include "kernels/cpu/expr/block_loops.h"

AICF_ISA_BEGIN
namespace {

using abi::ExprOp;

/// The unsigned type in which arithmetic on integers of type T wraps instead of overflowing.
template <class T>
using Wide = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

struct Add {
  template <class T>
  static T Do(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return a + b;
    else
      return static_cast<T>(static_cast<Wide<T>>(a) + static_cast<Wide<T>>(b));
  }
};
struct Sub {
  template <class T>
  static T Do(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return a - b;
    else
      return static_cast<T>(static_cast<Wide<T>>(a) - static_cast<Wide<T>>(b));
  }
};
struct Mul {
  template <class T>
  static T Do(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return a * b;
    else
      return static_cast<T>(static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b));
  }
};
struct Div {
  template <class T>
  static T Do(T a, T b) {
    return a / b;
  }
};
/// A NaN in either operand gives NaN. If b is NaN, the comparison is false, so that b is taken; a
/// is tested explicitly.
struct Min {
  template <class T>
  static T Do(T a, T b) {
    const T least = a < b ? a : b;
    return a != a ? a : least;
  }
};
struct Max {
  template <class T>
  static T Do(T a, T b) {
    const T most = a > b ? a : b;
    return a != a ? a : most;
  }
};
struct Eq {
  template <class T>
  static bool Do(T a, T b) {
    return a == b;
  }
};
struct Lt {
  template <class T>
  static bool Do(T a, T b) {
    return a < b;
  }
};
struct Le {
  template <class T>
  static bool Do(T a, T b) {
    return a <= b;
  }
};
struct And {
  template <class T>
  static T Do(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  static T Do(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  static T Do(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
struct Neg {
  template <class T>
  static T Do(T a) {
    if constexpr (std::is_floating_point_v<T>)
      return -a;
    else
      return static_cast<T>(0 - static_cast<Wide<T>>(a));
  }
};
struct Abs {
  template <class T>
  static T Do(T a) {
    if constexpr (std::is_same_v<T, float>)
      return __builtin_fabsf(a);
    else if constexpr (std::is_same_v<T, double>)
      return __builtin_fabs(a);
    else
      return a < 0 ? Neg::Do(a) : a;
  }
};
struct Not {
  template <class T>
  static T Do(T a) {
    return static_cast<T>(~a);
  }
};
struct LogicalNot {
  static uint8_t Do(uint8_t a) { return a == 0; }
};

/// out[i] = condition[i] ? b[i] : c[i], for elements of the size of T.
template <class T>
void SelectLoop(int64_t n, const BlockOperand* args, void* out) {
  const auto* condition = static_cast<const uint8_t*>(args[0].data);
  const T* b = static_cast<const T*>(args[1].data);
  const T* c = static_cast<const T*>(args[2].data);
  T* r = static_cast<T*>(out);
  const int64_t b_step = args[1].step;
  const int64_t c_step = args[2].step;
  if (args[0].step == 0) {
    const T* chosen = *condition != 0 ? b : c;
    const int64_t step = *condition != 0 ? b_step : c_step;
    for (int64_t i = 0; i < n; ++i) r[i] = chosen[i * step];
  } else if (b_step == 1 && c_step == 1) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) r[i] = condition[i] != 0 ? b[i] : c[i];
  } else if (b_step == 0 && c_step == 0) {
    const T yes = *b;
    const T no = *c;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) r[i] = condition[i] != 0 ? yes : no;
  } else {
    for (int64_t i = 0; i < n; ++i) r[i] = condition[i] != 0 ? b[i * b_step] : c[i * c_step];
  }
}

BlockFn FindSelect(DType dtype) {
  switch (DTypeBytes(dtype)) {
    case 1:
      return &SelectLoop<uint8_t>;
    case 2:
      return &SelectLoop<uint16_t>;
    case 4:
      return &SelectLoop<uint32_t>;
    default:
      return &SelectLoop<uint64_t>;
  }
}

/// Operators of both floats and integers.
template <class T>
BlockFn FindCommon(ExprOp op) {
  switch (op) {
    case ExprOp::kAdd:
      return &BinaryLoop<T, T, Add>;
    case ExprOp::kSub:
      return &BinaryLoop<T, T, Sub>;
    case ExprOp::kMul:
      return &BinaryLoop<T, T, Mul>;
    case ExprOp::kMin:
      return &BinaryLoop<T, T, Min>;
    case ExprOp::kMax:
      return &BinaryLoop<T, T, Max>;
    case ExprOp::kEq:
      return &BinaryLoop<T, uint8_t, Eq>;
    case ExprOp::kLt:
      return &BinaryLoop<T, uint8_t, Lt>;
    case ExprOp::kLe:
      return &BinaryLoop<T, uint8_t, Le>;
    case ExprOp::kNeg:
      return &UnaryLoop<T, T, Neg>;
    case ExprOp::kAbs:
      return &UnaryLoop<T, T, Abs>;
    default:
      return nullptr;
  }
}

template <class T>
BlockFn FindBitwise(ExprOp op) {
  switch (op) {
    case ExprOp::kAnd:
      return &BinaryLoop<T, T, And>;
    case ExprOp::kOr:
      return &BinaryLoop<T, T, Or>;
    case ExprOp::kXor:
      return &BinaryLoop<T, T, Xor>;
    case ExprOp::kNot:
      return &UnaryLoop<T, T, Not>;
    default:
      return nullptr;
  }
}

template <class T>
BlockFn FindInteger(ExprOp op) {
  const BlockFn fn = FindBitwise<T>(op);
  return fn != nullptr ? fn : FindCommon<T>(op);
}

template <class T>
BlockFn FindFloat(ExprOp op) {
  return op == ExprOp::kDiv ? &BinaryLoop<T, T, Div> : FindCommon<T>(op);
}

BlockFn FindBool(ExprOp op) {
  if (op == ExprOp::kNot) return &UnaryLoop<uint8_t, uint8_t, LogicalNot>;
  if (op == ExprOp::kMin) op = ExprOp::kAnd;
  if (op == ExprOp::kMax) op = ExprOp::kOr;
  return FindInteger<uint8_t>(op);
}

}  // namespace

BlockFn FindArithmetic(const BlockStep& step) {
  const ExprOp op = step.node.op;
  if (op == ExprOp::kSelect) return FindSelect(step.node.dtype);
  switch (step.operand) {
    case DType::kF32:
      return FindFloat<float>(op);
    case DType::kF64:
      return FindFloat<double>(op);
    case DType::kI32:
      return FindInteger<int32_t>(op);
    case DType::kI64:
      return FindInteger<int64_t>(op);
    case DType::kI8:
      return FindInteger<int8_t>(op);
    case DType::kU8:
      return FindInteger<uint8_t>(op);
    case DType::kBool:
      return FindBool(op);
    default:
      return nullptr;
  }
}

AICF_ISA_END
