// A row of logits as its cluster sees it. Each warp has neighbouring categories, so that lanes,
// warps and blocks follow one another in the order of categories. Logits are compared as integers,
// their keys. Their masses are integers too, so that a sum of masses does not depend on the order
// of its additions.
#pragma once

#include "common/block.cuh"

namespace aicf {

typedef In0::S Logit;
constexpr u32 kCategories = static_cast<u32>(In0::extent(1));
constexpr int kWarps = kBlockX / 32;

/// Categories that a thread loads at once. They must divide the row: the operand's run says where
/// vectors may begin, but not that the row ends with a whole vector.
AICF_DEVICE constexpr int VectorOf(int longest) {
  int vector = longest;
  while (kCategories % vector != 0) vector /= 2;
  return vector;
}
constexpr int kVector = VectorOf(PieceOf<Logit>(16, In0::run(1)));

/// Categories of a warp, whole vectors, and of a block.
constexpr u32 kShare = ((kCategories - 1) / (kVector * kWarps * kClusterX) + 1) * kVector;
constexpr u32 kBlockShare = kShare * kWarps;

/// How the bits of a logit are made up.
template <class S>
struct FloatParts;
template <>
struct FloatParts<f32> {
  typedef u32 Bits;
  static constexpr int kBits = 32, kMantissa = 23;
  static AICF_DEVICE u32 Of(f32 v) { return __float_as_uint(v); }
  static AICF_DEVICE f32 From(u32 bits) { return __uint_as_float(bits); }
};
template <>
struct FloatParts<f16> {
  typedef u16 Bits;
  static constexpr int kBits = 16, kMantissa = 10;
  static AICF_DEVICE u32 Of(f16 v) { return v.bits; }
  static AICF_DEVICE f16 From(u32 bits) { return f16{static_cast<u16>(bits)}; }
};
template <>
struct FloatParts<bf16> {
  typedef u16 Bits;
  static constexpr int kBits = 16, kMantissa = 7;
  static AICF_DEVICE u32 Of(bf16 v) { return v.bits; }
  static AICF_DEVICE bf16 From(u32 bits) { return bf16{static_cast<u16>(bits)}; }
};

typedef FloatParts<Logit> Parts;
typedef Parts::Bits Key;  ///< as it is kept
constexpr int kKeyBits = Parts::kBits;
constexpr u32 kSign = 1u << (kKeyBits - 1), kAllBits = kSign | (kSign - 1);
constexpr u32 kInfinity = (kSign - 1) >> Parts::kMantissa << Parts::kMantissa;
/// The key of logits that make a row invalid (NaN and plus infinity), which is above all others,
/// and the key of minus infinity, which is below all others.
constexpr u32 kIllegalKey = kAllBits;
constexpr u32 kNothingKey = ~(kSign | kInfinity) & kAllBits;

/// Keys are ordered as their logits are; zeros of either sign have the same key.
AICF_DEVICE u32 KeyOf(Logit logit) {
  const u32 bits = Parts::Of(logit), magnitude = bits & (kSign - 1);
  if (magnitude >= kInfinity && bits != (kSign | kInfinity)) return kIllegalKey;
  if (magnitude == 0) return kSign;
  return (bits & kSign) != 0 ? ~bits & kAllBits : bits | kSign;
}
AICF_DEVICE float ValueOf(u32 key) {
  return Widen(Parts::From((key & kSign) != 0 ? key ^ kSign : ~key & kAllBits));
}

/// Part `rank` of a row. With kCached the block keeps the part's keys in shared memory.
struct Row {
  const Logit* logits;
  Key* kept;
  u32 block_begin;

  AICF_DEVICE Row(const void* base, index_t row, int rank, void* cache) {
    logits = static_cast<const Logit*>(base) + In0::kOffset + row * In0::stride(0);
    kept = static_cast<Key*>(cache);
    block_begin = static_cast<u32>(rank) * kBlockShare;
  }
  AICF_DEVICE u32 Begin(int warp) const { return block_begin + static_cast<u32>(warp) * kShare; }
  AICF_DEVICE u32 End(int warp) const {
    const u32 end = Begin(warp) + kShare;
    return end < kCategories ? end : kCategories;
  }

  AICF_DEVICE Pack<Logit, kVector> Load(u32 at) const {
    const Logit* from = logits + static_cast<index_t>(at) * In0::stride(1);
    return *reinterpret_cast<const Pack<Logit, kVector>*>(from);
  }
  AICF_DEVICE Pack<Key, kVector> KeysOf(const Pack<Logit, kVector>& logits_there) const {
    Pack<Key, kVector> keys;
#pragma unroll
    for (int j = 0; j < kVector; ++j) keys.v[j] = static_cast<Key>(KeyOf(logits_there.v[j]));
    return keys;
  }
  /// The keys of kVector categories from `at` on. Any thread of the block may ask for them once a
  /// barrier has followed ForEach<true>.
  AICF_DEVICE Pack<Key, kVector> Keys(u32 at) const {
    if constexpr (kCached != 0)
      return *reinterpret_cast<const Pack<Key, kVector>*>(kept + (at - block_begin));
    else
      return KeysOf(Load(at));
  }

  /// Calls f(category, key) for the thread's categories in their order. With kFirst the logits are
  /// read from memory, several vectors at a time, and with kCached their keys are kept.
  template <bool kFirst, class F>
  AICF_DEVICE void ForEach(F&& f) const {
    constexpr bool kFromMemory = kFirst || kCached == 0;
    constexpr int kAhead = kFromMemory ? 4 : 1;
    constexpr u32 kStep = 32 * kVector;
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const u32 end = End(warp);
    for (u32 at = Begin(warp) + lane * kVector; at < end; at += kAhead * kStep) {
      Pack<Logit, kVector> held[kAhead];
#pragma unroll
      for (int u = 0; u < kAhead; ++u) {
        if (kFromMemory && at + u * kStep < end) held[u] = Load(at + u * kStep);
      }
#pragma unroll
      for (int u = 0; u < kAhead; ++u) {
        const u32 place = at + u * kStep;
        if (place >= end) break;
        const Pack<Key, kVector> keys = kFromMemory ? KeysOf(held[u]) : Keys(place);
        if constexpr (kFirst && kCached != 0) {
          *reinterpret_cast<Pack<Key, kVector>*>(kept + (place - block_begin)) = keys;
        }
#pragma unroll
        for (int j = 0; j < kVector; ++j) f(place + j, static_cast<u32>(keys.v[j]));
      }
    }
  }
};

/// Bits of the largest category's mass, so that the sum of all is below 2^63.
AICF_DEVICE constexpr int BitsOf(u32 v) {
  int bits = 0;
  while (v >> bits != 0) ++bits;
  return bits;
}
constexpr int kMassBits = MinOf(40, 62 - BitsOf(kCategories));

/// The mass of a category with logit x: exp((x - max) / temperature), where max is the row's
/// largest logit.
struct MassOf {
  float max, high, low;  ///< log2(e) / temperature is high + low

  AICF_DEVICE MassOf(float largest, float temperature) : max(largest) {
    const double factor = 1.4426950408889634 / static_cast<double>(temperature);
    high = static_cast<float>(factor);
    low = static_cast<float>(factor - static_cast<double>(high));
  }

  /// The mass as a number in [0, 1], within a few units in the last place. The rounding errors of
  /// the difference and of its product with the factor are computed too, and the result, to which
  /// their effect is nearly proportional, is corrected by them.
  AICF_DEVICE float Share(float x) const {
    if (x == max) return 1;
    const float difference = x - max, back = difference - x;
    const float lost = (x - (difference - back)) + (-max - back);
    const float power = difference * high;
    if (!(power >= static_cast<float>(-kMassBits - 2))) return 0;
    const float rest = fmaf(difference, high, -power) + (difference * low + lost * high);
    const float share = Exp2Approx(power);
    return share + share * (rest * 0.69314718f);
  }
  AICF_DEVICE u64 Of(u32 key) const { return Fixed(Share(ValueOf(key))); }
  static AICF_DEVICE u64 Fixed(float share) {
    return static_cast<u64>(share * static_cast<float>(u64{1} << kMassBits));
  }
};

}  // namespace aicf
