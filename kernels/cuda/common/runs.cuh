// The loads and stores of operands.
#pragma once

#include "common/codes.cuh"

namespace aicf {

/// The V elements of operand X from `inner` on (a multiple of V) along its first group, as they lie
/// in memory. Load asks for them, and only To waits for them. X says how the operand is accessed: S
/// is its storage type, kRun and kSame what RunOf and SameOf (common/space.h) give, and at(inner,
/// outer...) an offset in elements.
template <class X, int V>
struct HeldRun {
  typedef typename X::S S;
  static constexpr bool kOne = X::kSame >= V;  ///< all V are the same element
  static constexpr int N = kOne ? 1 : PieceOf<S>(V, X::kRun);
  /// Two elements of 16 bits or four of 8 share a word; each would take a register otherwise.
  static constexpr bool kBytes = kSame<S, i8> || kSame<S, u8>;
  static constexpr bool kShort = kSame<S, f16> || kSame<S, bf16> || kBytes;
  static constexpr int kInWord = 4 / static_cast<int>(sizeof(S));  ///< elements, if they are short
  static constexpr bool kWords = kShort && N % (kInWord > 0 ? kInWord : 1) == 0;
  static constexpr int kWord = kWords ? kInWord : 1;
  typedef typename Either<kWords, u32, S>::T Held;

  Pack<Held, N / kWord> packs[kOne ? 1 : V / N];

  template <class... Outer>
  AICF_DEVICE void Load(const void* base, index_t inner, Outer... outer) {
    const S* p = static_cast<const S*>(base);
#pragma unroll
    for (int j = 0; j < (kOne ? 1 : V); j += N) {
      packs[j / N] =
          *reinterpret_cast<const Pack<Held, N / kWord>*>(p + X::at(inner + j, outer...));
    }
  }
  /// Asks for the sector of the first element, to be loaded from the L2 cache later.
  template <class... Outer>
  static AICF_DEVICE void Prefetch(const void* base, index_t inner, Outer... outer) {
    PrefetchSector(static_cast<const S*>(base) + X::at(inner, outer...));
  }
  /// Elements of 8 bits as WideCode, for an expression that may want their numbers.
  AICF_DEVICE void To(WideCode<S> (&dst)[V]) const {
#pragma unroll
    for (int j = 0; j < V; ++j) {
      if constexpr (kOne)
        dst[j] = Widened(packs[0].v[0]);
      else if constexpr (kWords)
        dst[j] = CodeInWord<S>(packs[j / N].v[j % N / kWord], j % 4);
      else
        dst[j] = Widened(packs[j / N].v[j % N]);
    }
  }
  template <class T>
  AICF_DEVICE void To(T (&dst)[V]) const {
    if constexpr (kOne) {
      const T value = Widen(packs[0].v[0]);  // N is 1, so nothing is packed into words
#pragma unroll
      for (int j = 0; j < V; ++j) dst[j] = value;
    } else {
#pragma unroll
      for (int j = 0; j < V; ++j) {
        const Held held = packs[j / N].v[j % N / kWord];
        if constexpr (kWords && kBytes)
          dst[j] = static_cast<S>(held >> (j % 4 * 8));
        else if constexpr (kWords)
          dst[j] = Widen(S{static_cast<u16>(held >> (j % 2 * 16))});
        else
          dst[j] = Widen(held);
      }
    }
  }
};

/// Load and To in one: loads the V elements and waits for them.
template <class X, int V, class T, class... Outer>
AICF_DEVICE void LoadRun(const void* base, T (&dst)[V], index_t inner, Outer... outer) {
  HeldRun<X, V> run;
  run.Load(base, inner, outer...);
  run.To(dst);
}

template <class X, int V, class T, class... Outer>
AICF_DEVICE void StoreRun(void* base, const T (&src)[V], index_t inner, Outer... outer) {
  typedef typename X::S S;
  S* p = static_cast<S*>(base);
  constexpr int N = PieceOf<S>(V, X::kRun);
#pragma unroll
  for (int j = 0; j < V; j += N) {
    if constexpr ((kSame<T, ByteCode<S>> || kSame<T, RoundingCode<S>>)&&N % 4 == 0) {
      Pack<u32, N / 4> words;
#pragma unroll
      for (int i = 0; i < N; i += 4) words.v[i / 4] = WordOf(src + j + i);
      *reinterpret_cast<Pack<u32, N / 4>*>(p + X::at(inner + j, outer...)) = words;
    } else {
      Pack<S, N> pack;
#pragma unroll
      for (int i = 0; i < N; ++i) pack.v[i] = Narrow<S>::Of(src[j + i]);
      *reinterpret_cast<Pack<S, N>*>(p + X::at(inner + j, outer...)) = pack;
    }
  }
}

}  // namespace aicf
