// Element types, and accesses to several elements at once.
#pragma once

#include "common/float8.cuh"

namespace aicf {

typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;
struct f16 {
  u16 bits;
};
struct bf16 {
  u16 bits;
};
struct b8 {
  u8 bits;
};  ///< bool in memory

/// A tensor map as the driver encoded it, for the bulk tensor copy engine alone to read.
struct alignas(64) TensorMap {
  u8 bytes[128];
};

/// Type that a storage type has inside an expression.
template <class S>
struct ComputeOf {
  typedef S T;
};
template <>
struct ComputeOf<f16> {
  typedef float T;
};
template <>
struct ComputeOf<bf16> {
  typedef float T;
};
template <>
struct ComputeOf<b8> {
  typedef bool T;
};

template <int E, int M, int B, int X, int O, int N, int S, bool Z>
struct ComputeOf<Float8<E, M, B, X, O, N, S, Z>> {
  typedef float T;
};
template <class Byte, int Bits>
struct ComputeOf<SmallInteger<Byte, Bits>> {
  typedef Byte T;
};

template <class S>
AICF_DEVICE S Widen(S v) {
  return v;
}
AICF_DEVICE float Widen(f16 v) { return F16ToF32(v.bits); }
AICF_DEVICE float Widen(bf16 v) { return __uint_as_float(static_cast<u32>(v.bits) << 16); }
AICF_DEVICE bool Widen(b8 v) { return v.bits != 0; }
template <int E, int M, int B, int X, int O, int N, int S, bool Z>
AICF_DEVICE float Widen(Float8<E, M, B, X, O, N, S, Z> v) {
  return Float8ToF32<Float8<E, M, B, X, O, N, S, Z>>(v.bits);
}
template <class Byte, int Bits>
AICF_DEVICE Byte Widen(SmallInteger<Byte, Bits> v) {
  return v.value;
}

template <class S>
struct Narrow {
  static AICF_DEVICE S Of(S v) { return v; }
};
template <>
struct Narrow<f16> {
  static AICF_DEVICE f16 Of(float v) { return f16{F32ToF16(v)}; }
};
template <>
struct Narrow<bf16> {
  static AICF_DEVICE bf16 Of(float v) { return bf16{F32ToBF16(v)}; }
};
template <>
struct Narrow<b8> {
  static AICF_DEVICE b8 Of(bool v) { return b8{static_cast<u8>(v ? 1 : 0)}; }
};

template <int E, int M, int B, int X, int O, int N, int S, bool Z>
struct Narrow<Float8<E, M, B, X, O, N, S, Z>> {
  typedef Float8<E, M, B, X, O, N, S, Z> F;
  static AICF_DEVICE F Of(float v) { return F{F32ToFloat8<F>(v)}; }
};
template <class Byte, int Bits>
struct Narrow<SmallInteger<Byte, Bits>> {
  static AICF_DEVICE SmallInteger<Byte, Bits> Of(Byte v) { return {LowBits<Byte, Bits>(v)}; }
};

template <class T>
struct IsFloatType {
  static constexpr bool value = false;
};
template <>
struct IsFloatType<float> {
  static constexpr bool value = true;
};
template <>
struct IsFloatType<double> {
  static constexpr bool value = true;
};
template <class T>
constexpr bool kIsFloat = IsFloatType<T>::value;

template <class A, class B>
struct SameType {
  static constexpr bool value = false;
};
template <class A>
struct SameType<A, A> {
  static constexpr bool value = true;
};
template <class A, class B>
constexpr bool kSame = SameType<A, B>::value;

template <bool kFirst, class A, class B>
struct Either {
  typedef A T;
};
template <class A, class B>
struct Either<false, A, B> {
  typedef B T;
};

AICF_DEVICE constexpr int MinOf(int a, int b) { return a < b ? a : b; }
AICF_DEVICE constexpr int MaxOf(int a, int b) { return a > b ? a : b; }

/// Coordinates of a point by axis; axes of one element are 0.
struct Point {
  index_t c[8];
};

/// One piece of a copy step: the blocks [kFirst, kFirst + kBlocks) move its `kCount` elements from
/// From to To, in vectors of V.
template <class From_, class To_, int V, int Input, i64 Count, i64 First, i64 Blocks>
struct Piece {
  typedef From_ From;
  typedef To_ To;
  static constexpr int kVector = V, kInput = Input;
  static constexpr index_t kCount = static_cast<index_t>(Count);
  static constexpr index_t kFirst = static_cast<index_t>(First);
  static constexpr index_t kBlocks = static_cast<index_t>(Blocks);
};

/// N elements moved by one access.
template <class S, int N>
struct alignas(sizeof(S) * N) Pack {
  S v[N];
};

/// Elements per access, at most 16 bytes, of a vector of V elements of which runs of R are
/// contiguous.
template <class S>
AICF_DEVICE constexpr int PieceOf(int V, int R) {
  return MinOf(MinOf(V, R), MaxOf(1, 16 / static_cast<int>(sizeof(S))));
}

/// Loads two elements that follow each other along kAxis, in one access where they are neighbours
/// and aligned. `at` is the offset of the first one, whose index along the axis is even.
template <class View, int kAxis, class T>
AICF_DEVICE void LoadTwo(const void* base, index_t at, T& low, T& high) {
  typedef typename View::S S;
  const S* p = static_cast<const S*>(base) + at;
  if constexpr (View::run(kAxis) >= 2) {
    const Pack<S, 2> pack = *reinterpret_cast<const Pack<S, 2>*>(p);
    low = Widen(pack.v[0]);
    high = Widen(pack.v[1]);
  } else {
    low = Widen(p[0]);
    high = Widen(p[View::stride(kAxis)]);
  }
}

}  // namespace aicf
