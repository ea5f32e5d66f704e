/// Sixteen f32 lanes as one value, whatever the width of the hardware's registers: sums formed with
/// it have the same order, hence the same bits, on every instruction set. For *.isa.cc files only.
#pragma once

#include <cstdint>

#include "kernels/cpu/expr/half.h"
#include "kernels/cpu/isa.h"

AICF_ISA_BEGIN

typedef float Lanes __attribute__((vector_size(64)));
typedef float UnalignedLanes __attribute__((vector_size(64), aligned(4), may_alias));
typedef int32_t LaneMask __attribute__((vector_size(64)));

constexpr int64_t kLanes = 16;

static inline Lanes LoadLanes(const float* p) {
  return *reinterpret_cast<const UnalignedLanes*>(p);
}
static inline void StoreLanes(float* p, Lanes v) { *reinterpret_cast<UnalignedLanes*>(p) = v; }
/// The first n < 16 lanes; the others are 0.
static inline Lanes LoadSome(const float* p, int64_t n) {
#if defined(AICF_ISA_avx512)
  return (Lanes)_mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << n) - 1), p);
#else
  float f[kLanes] = {};
  for (int64_t i = 0; i < n; ++i) f[i] = p[i];
  return LoadLanes(f);
#endif
}
static inline Lanes AllLanes(float v) { return Lanes{} + v; }

/// Storage types of the 16-bit floats, so that loads can be chosen by type.
struct F16 {
  uint16_t bits;
};
struct BF16 {
  uint16_t bits;
};

static inline Lanes LoadLanes(const F16* p) {
#if defined(AICF_ISA_avx512)
  // The masked form is used because the compiler takes the plain one to read an undefined register.
  const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  return (Lanes)_mm512_maskz_cvtph_ps(0xffff, bits);
#endif
  float f[kLanes];
  WidenF16(&p->bits, f, kLanes);
  return LoadLanes(f);
}
static inline Lanes LoadLanes(const BF16* p) {
  float f[kLanes];
  WidenBF16(&p->bits, f, kLanes);
  return LoadLanes(f);
}
static inline float LoadOne(const float* p) { return *p; }
static inline float LoadOne(const F16* p) { return WidenOneF16(p->bits); }
static inline float LoadOne(const BF16* p) { return WidenOneBF16(p->bits); }
static inline float LoadOne(const int8_t* p) { return *p; }
static inline float LoadOne(const uint8_t* p) { return *p; }

/// The operators with which reductions combine values, on single values or on lanes. Minimum and
/// maximum are NaN if either operand is. Their two selections are separate statements, because the
/// compiler vectorises only that form.
struct SumOp {
  static constexpr float kIdentity = 0;
  template <class T>
  static T Do(T a, T b) {
    return a + b;
  }
};
struct MaxOp {
  static constexpr float kIdentity = -__builtin_inff();
  template <class T>
  static T Do(T a, T b) {
    const T most = a > b ? a : b;
    return a != a ? a : most;
  }
};
struct MinOp {
  static constexpr float kIdentity = __builtin_inff();
  template <class T>
  static T Do(T a, T b) {
    const T least = a < b ? a : b;
    return a != a ? a : least;
  }
};

/// Folds all lanes into one value: lane l is combined with lane l + 8, then with l + 4, l + 2 and
/// l + 1.
template <class Combine>
static inline float FoldLanes(Lanes v, const Combine& combine) {
  v = combine(v,
              __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
  v = combine(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3));
  v = combine(v, __builtin_shufflevector(v, v, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1));
  v = combine(v, __builtin_shufflevector(v, v, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0));
  return v[0];
}

AICF_ISA_END
