// Casts between the dtypes that models convert. Other pairs take the slow path.
#include <limits>

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

/// Truncates, saturates at the ends of R, a type of at most 16 bits; NaN gives 0.
template <class R>
struct FloatToNarrow {
  static R Do(float a) {
    constexpr float kLow = std::numeric_limits<R>::min(), kHigh = std::numeric_limits<R>::max();
    const float number = a == a ? a : 0.0f;
    const float low = number > kLow ? number : kLow;
    return static_cast<R>(static_cast<int32_t>(low < kHigh ? low : kHigh));
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
  if (to == DType::kU8) return &UnaryLoop<float, uint8_t, FloatToNarrow<uint8_t>>;
  if (to == DType::kI8) return &UnaryLoop<float, int8_t, FloatToNarrow<int8_t>>;
  if (to == DType::kU16) return &UnaryLoop<float, uint16_t, FloatToNarrow<uint16_t>>;
  if (to == DType::kI16) return &UnaryLoop<float, int16_t, FloatToNarrow<int16_t>>;
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
    case DType::kI16:
      return FindFromInteger<int16_t>(to);
    case DType::kU16:
      return FindFromInteger<uint16_t>(to);
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
