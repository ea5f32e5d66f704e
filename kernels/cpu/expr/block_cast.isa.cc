// Casts between the dtypes that models convert. Other pairs take the slow path.
#include "kernels/cpu/expr/block_loops.h"

AICF_ISA_BEGIN
namespace {

template <class T, class R>
struct Convert {
  static R Do(T a) { return static_cast<R>(a); }
};

template <class T>
struct NonZero {
  static uint8_t Do(T a) { return a != 0; }
};

/// Truncates, saturates at the ends of i32; NaN gives 0.
struct FloatToI32 {
  static int32_t Do(float a) {
    const bool fits = a > -0x1p31f && a < 0x1p31f;
    const int32_t whole = static_cast<int32_t>(fits ? a : 0.0f);
    const int32_t high = a >= 0x1p31f ? INT32_MAX : whole;
    return a <= -0x1p31f ? INT32_MIN : high;
  }
};

struct FloatToU8 {
  static uint8_t Do(float a) {
    const float low = a > 0 ? a : 0.0f;  // NaN gives 0
    return static_cast<uint8_t>(static_cast<int32_t>(low < 255.0f ? low : 255.0f));
  }
};

template <class T>
BlockFn FindFrom(DType to) {
  switch (to) {
    case DType::kF32:
      return &UnaryLoop<T, float, Convert<T, float>>;
    case DType::kF64:
      return &UnaryLoop<T, double, Convert<T, double>>;
    case DType::kBool:
      return &UnaryLoop<T, uint8_t, NonZero<T>>;
    default:
      return nullptr;
  }
}

template <class T>
BlockFn FindFromInteger(DType to) {
  switch (to) {
    case DType::kI32:
      return &UnaryLoop<T, int32_t, Convert<T, int32_t>>;
    case DType::kI64:
      return &UnaryLoop<T, int64_t, Convert<T, int64_t>>;
    default:
      return FindFrom<T>(to);
  }
}

BlockFn FindFromFloat(DType to) {
  if (to == DType::kI32) return &UnaryLoop<float, int32_t, FloatToI32>;
  if (to == DType::kU8) return &UnaryLoop<float, uint8_t, FloatToU8>;
  return FindFrom<float>(to);
}

}  // namespace

BlockFn FindCast(const BlockStep& step) {
  const DType to = step.node.dtype;
  switch (step.operand) {
    case DType::kF32:
      return FindFromFloat(to);
    case DType::kF64:
      return FindFrom<double>(to);
    case DType::kI32:
      return FindFromInteger<int32_t>(to);
    case DType::kI64:
      return FindFromInteger<int64_t>(to);
    case DType::kI8:
      return FindFromInteger<int8_t>(to);
    case DType::kU8:
    case DType::kBool:
      return FindFromInteger<uint8_t>(to);
    default:
      return nullptr;
  }
}

AICF_ISA_END
