// Codes of 8 bits and the numbers that they stand for, by sums and bytes: the chip's own
// conversions are several times as slow (a multiprocessor does 16 of them at a time, of sums 128).
//
// An f32 from 2^23 to 2^24 is a whole number that its last bits spell. A number of at most 2^22
// that is added to kWholes = 1.5 * 2^23 is therefore rounded to the nearest whole one, with ties to
// even as round() has them, and the last byte of such a sum is a code. Without the addend the sum
// is the rounded number as f32, exactly.
#pragma once

#include "common/ptx.cuh"
#include "common/types.cuh"

namespace aicf {

/// a between least and most. NaN gives `zero`, which must be `least` where the codes are u8.
template <class Code>
AICF_DEVICE float Clamped(float a, float least, float most, float zero) {
  const float clamped = MinOrOther(MaxOrOther(a, least), most);
  if constexpr (kSame<Code, u8>)
    return clamped;
  else
    return a != a ? zero : clamped;
}

/// a / b for a b whose reciprocal is known, exact where the quotient is a normal number: the
/// product with the reciprocal is at most one unit in the last place off, and its exact remainder
/// corrects it (P. Markstein, "Computation of elementary functions on the IBM RISC System/6000
/// processor", 1990). b is between 2^-30 and 2^30, and its significand is not the largest one.
AICF_DEVICE float CorrectedQuotient(float a, float b, float reciprocal) {
  const float near = a * reciprocal;
  return fmaf(fmaf(near, -b, a), reciprocal, near);  // -near would be another product
}

/// a rounded to a whole number and clamped to [least, most], plus `wholes`, which is kWholes or, an
/// even number more, with a zero point. All are whole numbers of at most 2^20 but `wholes`.
template <class Code>
AICF_DEVICE float WholeSum(float a, float least, float most, float zero, float wholes) {
  return Clamped<Code>(a, least, most, zero) + wholes;
}

/// The same of a / b. Here least, most and zero are what they would be times b: rounding a product
/// with b moves none of them to another whole number, and what is clamped has an ordinary quotient.
template <class Code>
AICF_DEVICE float QuotientWholeSum(float a, float least, float most, float zero, float b,
                                   float reciprocal, float wholes) {
  return CorrectedQuotient(Clamped<Code>(a, least, most, zero), b, reciprocal) + wholes;
}

/// A code of i8 or u8 as the last byte of a word, whose other bytes are anything: how epilogues
/// keep those that they store.
template <class Code>
struct ByteCode {
  u32 bits;

  ByteCode() = default;
  AICF_DEVICE ByteCode(Code code) : bits(static_cast<u32>(code)) {}
  AICF_DEVICE operator Code() const { return static_cast<Code>(bits); }
};

/// The code in such a sum, `more` added.
template <class Code>
AICF_DEVICE ByteCode<Code> CodeOf(float sum, u32 more) {
  ByteCode<Code> code;
  code.bits = __float_as_uint(sum) + more;
  return code;
}

/// A code of i8 or u8 as the last byte of WholeOf's number: how epilogues hold those that they
/// load.
template <class Code>
struct WideCode {
  u32 whole;

  AICF_DEVICE operator Code() const {
    return static_cast<Code>(kSame<Code, i8> ? whole ^ 0x80u : whole);
  }
  AICF_DEVICE operator ByteCode<Code>() const { return static_cast<Code>(*this); }
};

template <class Code>
AICF_DEVICE WideCode<Code> Widened(Code code) {
  return {(static_cast<u32>(code) & 0xffu) ^ (kSame<Code, i8> ? 0x4b000080u : 0x4b000000u)};
}
/// Code j of the four in a word.
template <class Code>
AICF_DEVICE WideCode<Code> CodeInWord(u32 word, int j) {
  const u32 shifted = kSame<Code, i8> ? word ^ 0x80808080u : word;
  return {__byte_perm(shifted, 0x4b000000u, 0x7440u + static_cast<u32>(j))};
}

/// Four codes in a word.
template <class Code>
AICF_DEVICE u32 WordOf(const ByteCode<Code>* codes) {
  const u32 low = __byte_perm(codes[0].bits, codes[1].bits, 0x0040u);
  const u32 high = __byte_perm(codes[2].bits, codes[3].bits, 0x0040u);
  return __byte_perm(low, high, 0x5410u);
}

/// The number of a code, less a whole number that is part of `wholes`: 2^23 for codes of u8, 2^23 +
/// 2^7 for those of i8.
template <class Code>
AICF_DEVICE float WholeOf(WideCode<Code> code, float wholes) {
  return __uint_as_float(code.whole) - wholes;
}
template <class Code>
AICF_DEVICE float WholeOf(Code code, float wholes) {
  return WholeOf(Widened(code), wholes);
}

}  // namespace aicf
