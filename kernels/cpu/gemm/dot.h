/// The sum that both reference kernels are built on.
#pragma once

#include <cstdint>
#include <type_traits>

#include "base/dtype.h"
#include "base/float16.h"
#include "base/float8.h"
#include "kernels/cpu/expr/scalar_eval.h"

namespace aicf::cpu {

/// Accumulates products: floats in double, integers modulo 2^64.
struct RefSum {
  double f = 0;
  uint64_t i = 0;
};

/// One operand along the reduced axis.
struct RefLine {
  DType dtype = DType::kF32;
  const void* data = nullptr;
  int64_t stride = 0;
};

namespace internal {
template <DType D, class T>
auto Widen(T value) {
  if constexpr (D == DType::kF16) {
    return static_cast<double>(F16ToF32(value));
  } else if constexpr (D == DType::kBF16) {
    return static_cast<double>(BF16ToF32(value));
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<double>(value);
  } else if constexpr (D >= DType::kF8E4M3FN) {
    return static_cast<double>(Float8ToF32(value, D));
  } else {
    return static_cast<uint64_t>(static_cast<int64_t>(value));
  }
}

template <DType D, class T>
void AddProductsAs(const RefLine& a, const RefLine& b, int64_t n, RefSum* sum) {
  const T* x = static_cast<const T*>(a.data);
  const T* y = static_cast<const T*>(b.data);
  for (int64_t k = 0; k < n; ++k) {
    const auto product = Widen<D>(x[k * a.stride]) * Widen<D>(y[k * b.stride]);
    if constexpr (std::is_same_v<decltype(product), const double>) {
      sum->f += product;
    } else {
      sum->i += product;
    }
  }
}

/// Calls f with a value of the storage type of an integer dtype below 32 bits.
template <class F>
void VisitNarrow(DType dtype, F&& f) {
  const bool is_signed = KindOf(dtype) == DTypeKind::kSigned;
  if (DTypeBytes(dtype) == 1) return is_signed ? f(int8_t{}) : f(uint8_t{});
  return is_signed ? f(int16_t{}) : f(uint16_t{});
}

inline void AddNarrowProducts(const RefLine& a, const RefLine& b, int64_t n, RefSum* sum) {
  VisitNarrow(a.dtype, [&](auto a_tag) {
    VisitNarrow(b.dtype, [&](auto b_tag) {
      const auto* x = static_cast<const decltype(a_tag)*>(a.data);
      const auto* y = static_cast<const decltype(b_tag)*>(b.data);
      int64_t total = 0;  // below 2^32 each, so no sum in memory overflows
      for (int64_t k = 0; k < n; ++k) total += int64_t{x[k * a.stride]} * y[k * b.stride];
      sum->i += static_cast<uint64_t>(total);
    });
  });
}
}  // namespace internal

/// *sum += sum over k < n of the products of the operands' elements k.
/// REQUIRES: abi::CanMultiply(a.dtype, b.dtype).
inline void AddProducts(const RefLine& a, const RefLine& b, int64_t n, RefSum* sum) {
  if (a.dtype != b.dtype) return internal::AddNarrowProducts(a, b, n, sum);
  switch (a.dtype) {
#define AICF_DTYPE(id, text, bytes, kind, storage) \
  case DType::id:                                  \
    return internal::AddProductsAs<DType::id, storage>(a, b, n, sum);
#include "base/dtype.def"
#undef AICF_DTYPE
  }
}

/// The sum as a value of the compute dtype `raw`: rounded to f32, or wrapped to the integer's
/// width.
inline Scalar RawScalar(const RefSum& sum, DType raw) {
  if (IsFloat(raw)) return ScalarFromDouble(sum.f, raw);
  return CastScalar(IntScalar(static_cast<int64_t>(sum.i)), DType::kI64, raw);
}

}  // namespace aicf::cpu
