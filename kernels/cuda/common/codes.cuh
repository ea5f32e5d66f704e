// Conversions between codes of 8 bits (i8, u8) and the numbers that they stand for, made of
// additions and moves of bytes. The chip's own conversions are several times as slow: a
// multiprocessor does 16 of them at a time, but 128 additions. The exception is an instruction of
// sm_90 that packs codes (RoundingCode), of which it does 64.
//
// An f32 from 2^23 to 2^24 is a whole number, whose lowest 23 bits are the f32's mantissa. If a
// number of at most 2^22 is added to kWholes = 1.5 * 2^23, the sum is therefore rounded to the
// nearest whole number, with ties to even as round() has them, and the last byte of the sum is a
// code. The sum less kWholes is the rounded number as f32, exactly.
#pragma once

#include "common/ptx.cuh"
#include "common/types.cuh"

namespace aicf {

/// `a` clamped to [least, most]. NaN gives `zero`, but `least` for codes of u8. REQUIRES: for u8,
/// `zero` is equal to `least`.
template <class Code>
AICF_DEVICE float Clamped(float a, float least, float most, float zero) {
  const float clamped = MinOrOther(MaxOrOther(a, least), most);
  if constexpr (kSame<Code, u8>)
    return clamped;
  else
    return a != a ? zero : clamped;
}

/// a / b for a b whose reciprocal is known, with the bits of a division wherever the quotient is a
/// normal number. The product with the reciprocal is off by at most one unit in the last place, and
/// the remainder a - near * b, which is computed exactly, corrects it (P. Markstein, "Computation
/// of elementary functions on the IBM RISC System/6000 processor", 1990). REQUIRES: the magnitude
/// of b is between 2^-30 and 2^30, and its significand is not the largest one.
AICF_DEVICE float CorrectedQuotient(float a, float b, float reciprocal) {
  const float near = a * reciprocal;
  return fmaf(fmaf(near, -b, a), reciprocal, near);  // -near would be another product
}

/// `a` rounded to a whole number and clamped to [least, most], plus `wholes`. That is kWholes or,
/// for codes with a zero point, an even number more. REQUIRES: least, most and zero are whole
/// numbers of at most 2^20.
template <class Code>
AICF_DEVICE float WholeSum(float a, float least, float most, float zero, float wholes) {
  return Clamped<Code>(a, least, most, zero) + wholes;
}

/// The same for a / b. Here least, most and zero are given times b, so that the dividend is
/// clamped. Rounding these products with b changes none of the whole numbers that their quotients
/// are rounded to, and a clamped dividend has a quotient that is neither NaN nor too large to be
/// corrected.
template <class Code>
AICF_DEVICE float QuotientWholeSum(float a, float least, float most, float zero, float b,
                                   float reciprocal, float wholes) {
  return CorrectedQuotient(Clamped<Code>(a, least, most, zero), b, reciprocal) + wholes;
}

/// A code of i8 or u8 in the last byte of a word whose other bytes may be anything. Epilogues keep
/// the codes that they store in this form.
template <class Code>
struct ByteCode {
  u32 bits;

  ByteCode() = default;
  AICF_DEVICE ByteCode(Code code) : bits(static_cast<u32>(code)) {}
  AICF_DEVICE operator Code() const { return static_cast<Code>(bits); }
};

/// The code in the last byte of what WholeSum or QuotientWholeSum returns, plus `more`: the odd
/// part of a zero point, which `wholes` leaves out because ties are rounded to even.
template <class Code>
AICF_DEVICE ByteCode<Code> CodeOf(float sum, u32 more) {
  ByteCode<Code> code;
  code.bits = __float_as_uint(sum) + more;
  return code;
}

/// A code of i8 or u8 as a number that is yet to be rounded to nearest even and saturated; NaN is
/// the code 0. Epilogues keep the codes that they only store in this form, because sm_90 rounds,
/// saturates and packs two of them with one instruction.
template <class Code>
struct RoundingCode {
  float value;

  AICF_DEVICE operator Code() const { return static_cast<Code>(Byte()); }
  /// The code in the last byte of a word whose other bytes may be anything.
  AICF_DEVICE u32 Byte() const {
    constexpr bool kSigned = kSame<Code, i8>;
    const float code = Clamped<Code>(value, kSigned ? -128.f : 0.f, kSigned ? 127.f : 255.f, 0.f);
    return __float_as_uint(code + 12582912.f);  // kWholes
  }
};

/// A code of i8 or u8 as the bits of an f32: 2^23 plus the code for u8, 2^23 + 2^7 plus the code
/// for i8. WholeOf makes a number of it with one subtraction. Epilogues hold the codes that they
/// load in this form.
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
  return {__byte_perm(0x4b000000u, shifted, 0x3004u + static_cast<u32>(j))};
}

/// The last bytes of four words in one, the first in its lowest byte.
AICF_DEVICE u32 LastBytes(u32 a, u32 b, u32 c, u32 d) {
  return __byte_perm(__byte_perm(a, b, 0x0040u), __byte_perm(c, d, 0x0040u), 0x5410u);
}
/// Four codes packed into a word, the first in its lowest byte.
template <class Code>
AICF_DEVICE u32 WordOf(const ByteCode<Code>* codes) {
  return LastBytes(codes[0].bits, codes[1].bits, codes[2].bits, codes[3].bits);
}

template <class Code>
AICF_DEVICE u32 WordOf(const RoundingCode<Code>* codes) {
#if defined(AICF_PACKED_CODES)
  return PackedCodes(codes[0].value, codes[1].value, codes[2].value, codes[3].value, Code());
#else
  return LastBytes(codes[0].Byte(), codes[1].Byte(), codes[2].Byte(), codes[3].Byte());
#endif
}

/// The number that a code stands for, less a whole number such as a zero point. `wholes` is the sum
/// of this whole number and of 2^23 for codes of u8, 2^23 + 2^7 for those of i8.
template <class Code>
AICF_DEVICE float WholeOf(WideCode<Code> code, float wholes) {
  return __uint_as_float(code.whole) - wholes;
}
template <class Code>
AICF_DEVICE float WholeOf(Code code, float wholes) {
  return WholeOf(Widened(code), wholes);
}

}  // namespace aicf
