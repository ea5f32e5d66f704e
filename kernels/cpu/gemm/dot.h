/// The sums of products on which the reference kernels of gemm and conv are built.
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

/// The sum over k < n of product(k). Doubles are added to four sums in turn, because each addition
/// has to wait for the previous one to the same sum; a network that runs on the reference kernels
/// spends most of its time here.
template <class Product>
auto SumOf(int64_t n, const Product& product) {
  decltype(product(0)) sums[4] = {};
  int64_t k = 0;
  for (; k + 4 <= n; k += 4) {
    for (int s = 0; s < 4; ++s) sums[s] += product(k + s);
  }
  for (; k < n; ++k) sums[0] += product(k);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

template <DType D, class T>
void AddProductsAs(const RefLine& a, const RefLine& b, int64_t n, RefSum* sum) {
  const T* x = static_cast<const T*>(a.data);
  const T* y = static_cast<const T*>(b.data);
  const auto add = [&](auto total) {
    if constexpr (std::is_same_v<decltype(total), double>) {
      sum->f += total;
    } else {
      sum->i += total;
    }
  };
  const int64_t dx = a.stride, dy = b.stride;
  if (dx == 1 && dy == 1) {  // written separately, since the compiler vectorises only this form
    add(SumOf(n, [=](int64_t k) { return Widen<D>(x[k]) * Widen<D>(y[k]); }));
  } else {
    add(SumOf(n, [=](int64_t k) { return Widen<D>(x[k * dx]) * Widen<D>(y[k * dy]); }));
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
      int64_t total = 0;  // products are below 2^32: no sum of so many as fit in memory overflows
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

/// The same for a row of `n` values in f32 and an operand of f32, f16 or bf16.
inline void AddRowProducts(const float* row, const RefLine& b, int64_t n, RefSum* sum) {
  const auto add = [&]<DType D>(const auto* y) {
    sum->f += internal::SumOf(n, [=, d = b.stride](int64_t k) {
      return static_cast<double>(row[k]) * internal::Widen<D>(y[k * d]);
    });
  };
  if (b.dtype == DType::kF32) {
    add.operator()<DType::kF32>(static_cast<const float*>(b.data));
  } else if (b.dtype == DType::kF16) {
    add.operator()<DType::kF16>(static_cast<const uint16_t*>(b.data));
  } else {
    add.operator()<DType::kBF16>(static_cast<const uint16_t*>(b.data));
  }
}

/// The sum as a value of the compute dtype `raw`: rounded to f32, or wrapped to the integer's
/// width.
inline Scalar RawScalar(const RefSum& sum, DType raw) {
  if (IsFloat(raw)) return ScalarFromDouble(sum.f, raw);
  return CastScalar(IntScalar(static_cast<int64_t>(sum.i)), DType::kI64, raw);
}

}  // namespace aicf::cpu
