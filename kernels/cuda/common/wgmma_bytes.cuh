// Products of operands of 8 bits by a warpgroup on Hopper's tensor cores, both in shared memory
// along k: d += a * b with a of 64 x 32, b of 32 x N and d of 64 x N. Integers have exact sums of
// 32 bits, which wrap. Float8 has sums in f32, but the tensor cores keep only some 14 bits of them
// while they add, so long sums should be added up outside in parts (kPromote in
// common/hopper_product.cuh). Where a thread's sums lie, and what orders them, is as in
// common/wgmma.cuh.
#pragma once

#include "common/wgmma.cuh"

namespace aicf {

/// Types of a and b.
template <class A, class B>
struct ByteOperands {};

AICF_DEVICE void HoldSum(int& sum) { asm volatile("" : "+r"(sum)::"memory"); }

/// Products with N columns. Without `add` the sums start anew.
template <int N>
struct ByteProducts;

#define AICF_BYTES(shape, types, names, a, b, add, scales) \
  "{\n.reg .pred p;\nsetp.ne.b32 p, %" add                 \
  ", 0;\n"                                                 \
  "wgmma.mma_async.sync.aligned." shape "." types " {" names "}, %" a ", %" b ", p" scales ";\n}"

#define AICF_BYTE_ADD(A, B, sum_t, constraint, N, types, names, sums, n0, n1, n2, scales)    \
  static AICF_DEVICE void Add(ByteOperands<A, B>, sum_t(&d)[N / 2], u64 a, u64 b, int add) { \
    asm volatile(AICF_BYTES("m64n" #N "k32", types, names, n0, n1, n2, scales)               \
                 : sums(constraint)                                                          \
                 : "l"(a), "l"(b), "r"(add));                                                \
  }
#define AICF_INTEGER_ADD(A, B, N, types, names, sums, n0, n1, n2) \
  AICF_BYTE_ADD(A, B, int, "+r", N, "s32." types, names, sums, n0, n1, n2, "")
#define AICF_FLOAT8_ADD(A, N, types, names, sums, n0, n1, n2) \
  AICF_BYTE_ADD(A, A, float, "+f", N, "f32." types, names, sums, n0, n1, n2, ", 1, 1")

// Operands are numbered after the N / 2 sums: a, b, add.
#define AICF_BYTE_PRODUCTS(N, names, sums, n0, n1, n2)                 \
  template <>                                                          \
  struct ByteProducts<N> {                                             \
    AICF_INTEGER_ADD(i8, i8, N, "s8.s8", names, sums, n0, n1, n2)      \
    AICF_INTEGER_ADD(i8, u8, N, "s8.u8", names, sums, n0, n1, n2)      \
    AICF_INTEGER_ADD(u8, i8, N, "u8.s8", names, sums, n0, n1, n2)      \
    AICF_INTEGER_ADD(u8, u8, N, "u8.u8", names, sums, n0, n1, n2)      \
    AICF_FLOAT8_ADD(f8e4m3fn, N, "e4m3.e4m3", names, sums, n0, n1, n2) \
    AICF_FLOAT8_ADD(f8e5m2, N, "e5m2.e5m2", names, sums, n0, n1, n2)   \
  };

AICF_BYTE_PRODUCTS(8, AICF_NAMES4, AICF_SUMS_OF_8, "4", "5", "6")
AICF_BYTE_PRODUCTS(16, AICF_NAMES8, AICF_SUMS_OF_16, "8", "9", "10")
AICF_BYTE_PRODUCTS(32, AICF_NAMES16, AICF_SUMS_OF_32, "16", "17", "18")
AICF_BYTE_PRODUCTS(64, AICF_NAMES32, AICF_SUMS_OF_64, "32", "33", "34")
AICF_BYTE_PRODUCTS(96, AICF_NAMES48, AICF_SUMS_OF_96, "48", "49", "50")
AICF_BYTE_PRODUCTS(112, AICF_NAMES56, AICF_SUMS_OF_112, "56", "57", "58")
AICF_BYTE_PRODUCTS(128, AICF_NAMES64, AICF_SUMS_OF_128, "64", "65", "66")
AICF_BYTE_PRODUCTS(160, AICF_NAMES80, AICF_SUMS_OF_160, "80", "81", "82")
AICF_BYTE_PRODUCTS(192, AICF_NAMES96, AICF_SUMS_OF_192, "96", "97", "98")
AICF_BYTE_PRODUCTS(224, AICF_NAMES112, AICF_SUMS_OF_224, "112", "113", "114")
AICF_BYTE_PRODUCTS(256, AICF_NAMES128, AICF_SUMS_OF_256, "128", "129", "130")
#undef AICF_BYTES
#undef AICF_BYTE_ADD
#undef AICF_INTEGER_ADD
#undef AICF_FLOAT8_ADD
#undef AICF_BYTE_PRODUCTS

}  // namespace aicf
