// What one thread accumulates, by the kind of reduction. An accumulator can Add elements, Merge
// what another thread has accumulated, and Finish. REQUIRES that the including file has defined
// kLength, the number of reduced elements.
#pragma once

#include "common/enums.cuh"

namespace aicf {

constexpr bool kIsArg = attr_kind == kReduceArgMin || attr_kind == kReduceArgMax;
constexpr bool kSmaller = attr_kind == kReduceMin || attr_kind == kReduceArgMin;
constexpr bool kIsSum = attr_kind == kReduceSum || attr_kind == kReduceMean;
constexpr bool kIsProduct = attr_kind == kReduceProd;

/// Integers are summed modulo 2^64 and wrapped once, floats in f64 over f32 pieces of some
/// elements: the error stays that of a short f32 sum whatever the length. A short mean or sum whose
/// result is stored in 16 bits stays in f32.
template <class T>
struct TotalOf {
  typedef u64 T64;
};
template <>
struct TotalOf<float> {
  typedef double T64;
};
struct ShortTotal {
  typedef float T64;
};
template <bool kShort, class T>
struct TotalChoice : TotalOf<T> {};
template <class T>
struct TotalChoice<true, T> : ShortTotal {};
template <>
struct TotalOf<double> {
  typedef double T64;
};
/// kLength: reduced elements per result, from the including variant.
constexpr bool kShortTotal = kShortResults && kIsSum && kSame<element_t, float> && kLength <= 4096;
typedef TotalChoice<kShortTotal, element_t>::T64 total_t;

template <class T>
AICF_DEVICE total_t Total(T v) {
  if constexpr (kIsFloat<T>)
    return static_cast<total_t>(v);
  else
    return static_cast<total_t>(static_cast<i64>(v));
}

/// Sum, product, mean.
struct Folded {
  total_t total = kIsProduct ? total_t(1) : total_t(0);

  AICF_DEVICE void Fold(total_t v) {
    if constexpr (kIsProduct)
      total = total * v;
    else
      total = total + v;
  }
  /// Elements i, i + step, i + 2 step, ...
  template <int V>
  AICF_DEVICE void Add(const element_t (&x)[V], index_t, index_t = 1) {
    if constexpr (kSame<element_t, float> && kIsSum) {
      float piece = x[0];
#pragma unroll
      for (int j = 1; j < V; ++j) piece = piece + x[j];
      Fold(piece);
    } else {
#pragma unroll
      for (int j = 0; j < V; ++j) Fold(Total(x[j]));
    }
  }
  AICF_DEVICE void Merge(const Folded& other) { Fold(other.total); }
  AICF_DEVICE raw_t Finish(i64 count) const {
    if constexpr (kIsFloat<element_t>) {
      return static_cast<raw_t>(attr_kind == kReduceMean ? total / static_cast<total_t>(count)
                                                         : total);
    } else if constexpr (attr_kind == kReduceMean) {
      if constexpr (kIsSigned<element_t>)
        return OpCast<raw_t>(OpDiv(static_cast<i64>(total), count));
      else
        return OpCast<raw_t>(OpDiv(static_cast<u64>(total), static_cast<u64>(count)));
    } else {
      return OpCast<raw_t>(total);
    }
  }
};

/// Minimum or maximum and its position. `at` is the position along the reduced axes; -1: nothing
/// yet. The first NaN wins; among equal elements the first, or with last_index the last.
struct Extreme {
  element_t best = element_t(0);
  index_t at = -1;

  AICF_DEVICE bool Loses(element_t x, index_t i) const {
    if (at < 0) return true;
    if constexpr (kIsFloat<element_t>) {
      const bool nan = best != best, other = x != x;
      if (nan || other) return other && (!nan || i < at);
    }
    if (x == best) return attr_last_index ? i > at : i < at;
    return kSmaller ? x < best : best < x;
  }
  AICF_DEVICE void Take(element_t x, index_t i) {
    if (Loses(x, i)) {
      best = x;
      at = i;
    }
  }
  template <int V>
  AICF_DEVICE void Add(const element_t (&x)[V], index_t i, index_t step = 1) {
#pragma unroll
    for (int j = 0; j < V; ++j) Take(x[j], i + j * step);
  }
  AICF_DEVICE void Merge(const Extreme& other) {
    if (other.at >= 0) Take(other.best, other.at);
  }
  /// The value of an empty reduction: the end of the type's range that loses to every element.
  static AICF_DEVICE element_t Nothing() {
    if constexpr (kIsFloat<element_t>) {
      const double far =
          kSmaller ? FromBits64(0x7ff0000000000000ull) : FromBits64(0xfff0000000000000ull);
      return static_cast<element_t>(far);
    } else if constexpr (kSame<element_t, bool>) {
      return kSmaller;
    } else {
      return kSmaller ? LimitsOf<element_t>::kHighest : LimitsOf<element_t>::kLowest;
    }
  }
  AICF_DEVICE raw_t Finish(i64) const {
    if constexpr (kIsArg)
      return static_cast<raw_t>(at < 0 ? 0 : at);
    else
      return at < 0 ? Nothing() : best;
  }
};

template <bool kFolds>
struct AccumulatorOf {
  typedef Extreme T;
};
template <>
struct AccumulatorOf<true> {
  typedef Folded T;
};
typedef AccumulatorOf<kIsSum || kIsProduct>::T Accumulator;

// ---- Several blocks for one output: a cluster shares it out and merges in the order of its
// blocks.

constexpr index_t kPieces = kClusterX;

/// Part of [0, length) that this block of the cluster reduces; parts are whole strides.
struct Share {
  index_t begin, end;
};
AICF_DEVICE Share ShareOfBlock(index_t length, index_t stride) {
  if constexpr (kPieces == 1) return {0, length};
  const index_t share = (length / kPieces + stride) / stride * stride;
  const index_t begin = static_cast<index_t>(blockIdx.x) % kPieces * share;
  return {begin, begin + share < length ? begin + share : length};
}

/// Merges the partial results of a cluster's blocks and stores the results of V neighbouring
/// outputs. Must be called by every thread of the block; `holds` says whether a thread's
/// accumulators are those of outputs.
template <int V>
AICF_DEVICE void FinishResults(const Args& args, Accumulator (&own)[V], index_t result,
                               bool holds) {
  if constexpr (kPieces > 1) {
    Accumulator* partial = static_cast<Accumulator*>(args.workspace) + result * kPieces;
    const index_t piece = static_cast<index_t>(blockIdx.x) % kPieces;
    for (int j = 0; holds && piece > 0 && j < V; ++j) partial[j * kPieces + piece] = own[j];
    ClusterBarrier();
    holds = holds && piece == 0;
    for (int j = 0; holds && j < V; ++j) {
      for (index_t b = 1; b < kPieces; ++b) own[j].Merge(partial[j * kPieces + b]);
    }
  }
  if (!holds) return;
  raw_t raw[V];
#pragma unroll
  for (int j = 0; j < V; ++j) raw[j] = own[j].Finish(static_cast<i64>(kLength));
  Epilogue::Store<V>(args, raw, result);
}

}  // namespace aicf
