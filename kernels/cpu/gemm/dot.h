/// The sum that both reference kernels are built on.
#pragma once

#include <cstdint>
#include <type_traits>

#include "base/dtype.h"
#include "base/float16.h"
#include "kernels/cpu/expr/scalar_eval.h"

namespace aicf::cpu {

/// Accumulates products of a dtype: floats in double, integers modulo 2^64.
struct RefSum {
  double f = 0;
  uint64_t i = 0;
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
  } else {
    return static_cast<uint64_t>(static_cast<int64_t>(value));
  }
}

template <DType D, class T>
void AddProductsAs(const void* a, int64_t a_stride, const void* b, int64_t b_stride, int64_t n,
                   RefSum* sum) {
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  for (int64_t k = 0; k < n; ++k) {
    const auto product = Widen<D>(x[k * a_stride]) * Widen<D>(y[k * b_stride]);
    if constexpr (std::is_same_v<decltype(product), const double>) {
      sum->f += product;
    } else {
      sum->i += product;
    }
  }
}
}  // namespace internal

/// *sum += sum over k < n of a[k * a_stride] * b[k * b_stride], both of storage dtype `dtype`.
inline void AddProducts(DType dtype, const void* a, int64_t a_stride, const void* b,
                        int64_t b_stride, int64_t n, RefSum* sum) {
  switch (dtype) {
#define AICF_DTYPE(id, text, bytes, kind, storage) \
  case DType::id:                                  \
    return internal::AddProductsAs<DType::id, storage>(a, a_stride, b, b_stride, n, sum);
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
