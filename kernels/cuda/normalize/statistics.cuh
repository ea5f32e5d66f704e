// The statistics that the normalize kernels collect of elements, and the types in which they do so.
#pragma once

#include "common/enums.cuh"

namespace aicf {

template <class T>
struct StatisticOf {
  typedef double S;
};
template <>
struct StatisticOf<float> {
  typedef float S;
};
/// Elements are widened to this type.
typedef StatisticOf<element_t>::S value_t;
constexpr bool kSingle = kSame<value_t, float>;

/// Sums run in f64 over f32 pieces; where results have 16 bits, a tree of f32 sums is exact enough.
template <bool kShort>
struct SumOf {
  typedef double S;
};
template <>
struct SumOf<true> {
  typedef float S;
};
typedef SumOf<kShortResults && kSingle>::S sum_t;

/// What is known of some elements: their number, their mean, and the sum of their squared distances
/// from it.
struct Deviations {
  sum_t count, mean, squares;
};

/// Computes x / divisor for the many x of a row, as products with the reciprocal. For f32 results
/// these are corrected to what a division gives. Zero, infinite and NaN divisors have the results
/// of a division too.
struct Quotient {
  value_t divisor, reciprocal;
  bool corrected;

  Quotient() = default;
  AICF_DEVICE explicit Quotient(value_t by) : divisor(by), reciprocal(value_t(1) / by) {
    corrected = reciprocal != 0 && OpAbs(reciprocal) <= static_cast<value_t>(FromBits(0x7f7fffffu));
  }
  AICF_DEVICE value_t operator()(value_t x) const {
    if constexpr (!kSingle) return x / divisor;
    const value_t q = x * reciprocal;
    if constexpr (kShortResults) return q;
    return corrected ? OpFma(OpFma(-q, divisor, x), reciprocal, q) : q;
  }
};

}  // namespace aicf
