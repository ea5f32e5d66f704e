/// What an update does to its target, for the variants that work on plain numbers.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/abi/kernel.h"

namespace aicf::cpu {

template <abi::ScatterReduction kReduction, class T>
inline T Combine(T old, T update) {
  using R = abi::ScatterReduction;
  if constexpr (kReduction == R::kNone) {
    return update;
  } else if constexpr (kReduction == R::kMin || kReduction == R::kMax) {
    if constexpr (std::is_floating_point_v<T>) {
      if (old != old) return old;
      if (update != update) return update;
    }
    return (kReduction == R::kMin ? update < old : old < update) ? update : old;
  } else if constexpr (std::is_floating_point_v<T>) {
    return kReduction == R::kAdd ? old + update : old * update;
  } else {
    // Wraps: signed overflow is undefined, so the sum is formed unsigned.
    using U = std::make_unsigned_t<T>;
    const U a = static_cast<U>(old), b = static_cast<U>(update);
    return static_cast<T>(kReduction == R::kAdd ? a + b : a * b);
  }
}

/// Calls f(T{}, constant<reduction>) for the dtype and the reduction. Without a reduction T is a
/// word of the element's size. Returns false, and calls nothing, for a dtype that is not plain.
template <class F>
bool VisitCombine(DType dtype, abi::ScatterReduction reduction, F&& f) {
  using R = abi::ScatterReduction;
  if (reduction == R::kNone) {
    constexpr std::integral_constant<R, R::kNone> kNone;
    switch (DTypeBytes(dtype)) {
      case 1:
        return f(uint8_t{}, kNone), true;
      case 2:
        return f(uint16_t{}, kNone), true;
      case 4:
        return f(uint32_t{}, kNone), true;
      default:
        return f(uint64_t{}, kNone), true;
    }
  }
  const auto by_reduction = [&](auto zero) {
    switch (reduction) {
      case R::kAdd:
        return f(zero, std::integral_constant<R, R::kAdd>{});
      case R::kMul:
        return f(zero, std::integral_constant<R, R::kMul>{});
      case R::kMin:
        return f(zero, std::integral_constant<R, R::kMin>{});
      default:
        return f(zero, std::integral_constant<R, R::kMax>{});
    }
  };
  switch (dtype) {
    case DType::kF32:
      return by_reduction(float{}), true;
    case DType::kF64:
      return by_reduction(double{}), true;
    case DType::kI32:
      return by_reduction(int32_t{}), true;
    case DType::kI64:
      return by_reduction(int64_t{}), true;
    default:
      return false;
  }
}

/// Whether VisitCombine has a case for it.
inline bool IsPlainCombine(DType dtype, abi::ScatterReduction reduction) {
  return reduction == abi::ScatterReduction::kNone || dtype == DType::kF32 ||
         dtype == DType::kF64 || dtype == DType::kI32 || dtype == DType::kI64;
}

/// Copies data that are dense, or one element everywhere, to the dense output; nothing when they
/// are the same bytes.
void CopyDense(const abi::ArgBlock& args);

}  // namespace aicf::cpu
