// What both scan kernels share: the type of totals, and access to elements in the order of the
// scan.
#pragma once

#include "common/enums.cuh"

namespace aicf {

constexpr index_t kLength = kDomainCount0;
constexpr index_t kLines = kDomainCount1;

/// Type of a running total: the float type itself for floats; for integers, unsigned numbers modulo
/// 2^32 or 2^64, until they are stored.
template <class T, bool kWide>
struct TotalOf {
  typedef u32 Type;
};
template <class T>
struct TotalOf<T, true> {
  typedef u64 Type;
};
template <>
struct TotalOf<float, false> {
  typedef float Type;
};
template <>
struct TotalOf<double, true> {
  typedef double Type;
};
typedef TotalOf<element_t, sizeof(element_t) == 8>::Type total_t;
constexpr total_t kIdentity = attr_kind == kScanProd ? total_t(1) : total_t(0);

AICF_DEVICE total_t Combine(total_t a, total_t b) { return attr_kind == kScanProd ? a * b : a + b; }

/// Index along the axis of the q-th element that is scanned.
AICF_DEVICE index_t PlaceOf(index_t q) { return attr_reverse ? kLength - 1 - q : q; }

AICF_DEVICE total_t LoadPlace(const Args& args, index_t q, index_t line) {
  element_t x[1];
  Prologue::Load<1>(args, x, PlaceOf(q), line);
  return static_cast<total_t>(x[0]);
}
AICF_DEVICE void StorePlace(const Args& args, total_t total, index_t q, index_t line) {
  const element_t value[1] = {static_cast<element_t>(total)};
  StoreRun<Result0>(args.out[0], value, PlaceOf(q), line);
}

}  // namespace aicf
