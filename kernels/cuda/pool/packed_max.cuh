// Running maxima of the elements of words, two of 16 bits at a time. An instruction takes the
// larger ones of two pairs; one by one, elements would be unpacked, compared and selected.
#pragma once

#include "common/types.cuh"

namespace aicf {

/// The maxima of `kInWord` elements of type S that share a word; 0: there is no such form. Start is
/// below all elements, Meet takes in a word of elements, Of gives the maximum of element j. NaN is
/// larger than any number.
template <class S>
struct PackedMax {
  static constexpr int kInWord = 0;
  AICF_DEVICE void Start() {}
  AICF_DEVICE void Meet(u32) {}
  AICF_DEVICE S Of(int) const { return S(); }
};

#if defined(AICF_PAIRED_MAXIMA)

// Of four bytes, the two odd ones are the upper halves of pairs, which decide which pair is larger.
// So they need no unpacking: what is in the lower halves does not matter to them.
template <>
struct PackedMax<u8> {
  static constexpr int kInWord = 4;
  u32 even, odd;

  AICF_DEVICE void Start() { even = odd = 0; }
  AICF_DEVICE void Meet(u32 word) {
    even = MaxPairsU16(even, word & 0x00ff00ffu);
    odd = MaxPairsU16(odd, word);
  }
  AICF_DEVICE u8 Of(int j) const { return static_cast<u8>((j % 2 == 0 ? even : odd) >> (8 * j)); }
};
template <>
struct PackedMax<i8> {
  static constexpr int kInWord = 4;
  u32 even, odd;  // both in upper halves, whose signs are those of the pairs

  AICF_DEVICE void Start() { even = odd = 0x80008000u; }
  AICF_DEVICE void Meet(u32 word) {
    even = MaxPairsS16(even, word << 8 & 0xff00ff00u);
    odd = MaxPairsS16(odd, word);
  }
  AICF_DEVICE i8 Of(int j) const {
    return static_cast<i8>(j % 2 == 0 ? even >> (8 * j + 8) : odd >> (8 * j));
  }
};
template <>
struct PackedMax<f16> {
  static constexpr int kInWord = 2;
  u32 best;

  AICF_DEVICE void Start() { best = 0xfc00fc00u; }  // negative infinity
  AICF_DEVICE void Meet(u32 word) { best = MaxPairsF16(best, word); }
  AICF_DEVICE f16 Of(int j) const { return {static_cast<u16>(best >> (16 * j))}; }
};
template <>
struct PackedMax<bf16> {
  static constexpr int kInWord = 2;
  u32 best;

  AICF_DEVICE void Start() { best = 0xff80ff80u; }
  AICF_DEVICE void Meet(u32 word) { best = MaxPairsBF16(best, word); }
  AICF_DEVICE bf16 Of(int j) const { return {static_cast<u16>(best >> (16 * j))}; }
};

#endif

}  // namespace aicf
