// Products by a warpgroup (four warps, 128 threads) on Hopper's tensor cores, operands in shared
// memory: d += a * b with a of 64 x 16, b of 16 x N and d of 64 x N in f32 (tf32: 8 instead of 16).
// Every function has to be called by all four warps.
//
// Thread t of the warpgroup holds d[4 * g + e] of row t / 32 * 16 + t % 32 / 4 + e / 2 * 8 and
// column 8 * g + t % 4 * 2 + e % 2.
#pragma once

#include "common/types.cuh"
#include "common/wgmma_text.cuh"

namespace aicf {

/// Orders the warpgroup's earlier accesses to the sums before the products that follow.
AICF_DEVICE void ProductsBegin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
/// Closes a group of products.
AICF_DEVICE void ProductsCommit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
/// Waits until at most kLeft groups are unfinished.
template <int kLeft>
AICF_DEVICE void ProductsWait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kLeft) : "memory");
}
/// The same for the other branch of a condition. The compiler would merge two waits that are
/// spelled alike into one, in front of both branches.
template <int kLeft>
AICF_DEVICE void ProductsWaitInOtherBranch() {
  asm volatile("wgmma.wait_group.sync.aligned %0;  // other branch" ::"n"(kLeft) : "memory");
}
/// Keeps the compiler from reading a sum before this point.
AICF_DEVICE void HoldSum(float& sum) { asm volatile("" : "+f"(sum)::"memory"); }
/// Keeps the compiler from reusing the register of an operand before this point.
AICF_DEVICE void HoldOperand(unsigned& word) { asm volatile("" : "+r"(word)::"memory"); }

/// The descriptor that names an operand in shared memory to the tensor cores. The operand lies in
/// lines of kLineBytes, swizzled within groups of eight of them (the tensor map's swizzle of that
/// many bytes). REQUIRES: the tile starts at a multiple of 1024.
/// Lines along k have 128, 64 or 32 bytes: each row is a line, groups of eight rows follow each
/// other at `stride` bytes, and 16 elements further along k are 32 bytes further.
/// Lines along rows (columns of b) have 128 bytes: each k is a line, groups of eight k follow each
/// other at `stride` bytes, and blocks of 64 rows at `leading` bytes.
template <int kLineBytes = 128>
AICF_DEVICE u64 OperandAt(unsigned address, int leading, int stride) {
  static_assert(kLineBytes == 128 || kLineBytes == 64 || kLineBytes == 32,
                "the swizzles there are");
  const u64 swizzle = static_cast<u64>(kLineBytes == 128 ? 1 : kLineBytes == 64 ? 2 : 3) << 62;
  return swizzle | static_cast<u64>(stride >> 4) << 32 | static_cast<u64>(leading >> 4) << 16 |
         static_cast<u64>((address & 0x3ffffu) >> 4);
}

/// The operand that lies `bytes` further on, a multiple of 16. Within shared memory only the lower
/// word changes. Adding to that word alone spares a carry where many operands follow each other.
AICF_DEVICE u64 Further(u64 operand, int bytes) {
  const unsigned low = static_cast<unsigned>(operand) + static_cast<unsigned>(bytes / 16);
  return (operand & 0xffffffff00000000ull) | low;
}

/// Products with N columns. Without `add` the sums start anew. kAcrossA and kAcrossB are 1 where
/// lines run along rows of a (columns of b) instead of along k.
/// AddHeld takes a from registers, two elements to a word. The first word of thread t has columns
/// t % 4 * 2 and t % 4 * 2 + 1 of row t / 32 * 16 + t % 32 / 4, and the second word has the same
/// columns of the row 8 further down. The third and fourth words are those 8 columns further.
/// Sums of 16 columns, rounded pair by pair, are such an operand.
template <int N>
struct Products;

#define AICF_PRODUCT(shape, types, names, a_name, b_name, add_name, across)                \
  "{\n.reg .pred p;\nsetp.ne.b32 p, %" add_name                                            \
  ", 0;\n"                                                                                 \
  "wgmma.mma_async.sync.aligned." shape ".f32." types " {" names "}, " a_name ", %" b_name \
  ", p, 1, 1" across ";\n}"

// Operands are numbered after the N / 2 sums: n0 is the first number that is free. With both
// operands in shared memory they are a, b, add, and where the lines run; with a in registers, its
// four words, b, add, and where the lines of b run.
#define AICF_PRODUCTS(N, names, sums, n0, n1, n2, n3, n4, n5, n6)                                  \
  template <>                                                                                      \
  struct Products<N> {                                                                             \
    template <int kAcrossA, int kAcrossB>                                                          \
    static AICF_DEVICE void Add(bf16, float (&d)[N / 2], u64 a, u64 b, int add) {                  \
      asm volatile(                                                                                \
          AICF_PRODUCT("m64n" #N "k16", "bf16.bf16", names, "%" n0, n1, n2, ", %" n3 ", %" n4)     \
          : sums("+f")                                                                             \
          : "l"(a), "l"(b), "r"(add), "n"(kAcrossA), "n"(kAcrossB));                               \
    }                                                                                              \
    template <int kAcrossA, int kAcrossB>                                                          \
    static AICF_DEVICE void Add(f16, float (&d)[N / 2], u64 a, u64 b, int add) {                   \
      asm volatile(                                                                                \
          AICF_PRODUCT("m64n" #N "k16", "f16.f16", names, "%" n0, n1, n2, ", %" n3 ", %" n4)       \
          : sums("+f")                                                                             \
          : "l"(a), "l"(b), "r"(add), "n"(kAcrossA), "n"(kAcrossB));                               \
    }                                                                                              \
    template <int kAcrossA, int kAcrossB>                                                          \
    static AICF_DEVICE void Add(float, float (&d)[N / 2], u64 a, u64 b, int add) {                 \
      static_assert(kAcrossA == 0 && kAcrossB == 0, "tf32 operands lie along k");                  \
      asm volatile(AICF_PRODUCT("m64n" #N "k8", "tf32.tf32", names, "%" n0, n1, n2, "")            \
                   : sums("+f")                                                                    \
                   : "l"(a), "l"(b), "r"(add));                                                    \
    }                                                                                              \
    template <int kAcrossB>                                                                        \
    static AICF_DEVICE void AddHeld(bf16, float (&d)[N / 2], const unsigned (&a)[4], u64 b,        \
                                    int add) {                                                     \
      asm volatile(AICF_PRODUCT("m64n" #N "k16", "bf16.bf16", names,                               \
                                "{%" n0 ", %" n1 ", %" n2 ", %" n3 "}", n4, n5, ", %" n6)          \
                   : sums("+f")                                                                    \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add), "n"(kAcrossB)); \
    }                                                                                              \
    template <int kAcrossB>                                                                        \
    static AICF_DEVICE void AddHeld(f16, float (&d)[N / 2], const unsigned (&a)[4], u64 b,         \
                                    int add) {                                                     \
      asm volatile(AICF_PRODUCT("m64n" #N "k16", "f16.f16", names,                                 \
                                "{%" n0 ", %" n1 ", %" n2 ", %" n3 "}", n4, n5, ", %" n6)          \
                   : sums("+f")                                                                    \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add), "n"(kAcrossB)); \
    }                                                                                              \
  };

AICF_PRODUCTS(8, AICF_NAMES4, AICF_SUMS_OF_8, "4", "5", "6", "7", "8", "9", "10")
AICF_PRODUCTS(16, AICF_NAMES8, AICF_SUMS_OF_16, "8", "9", "10", "11", "12", "13", "14")
AICF_PRODUCTS(32, AICF_NAMES16, AICF_SUMS_OF_32, "16", "17", "18", "19", "20", "21", "22")
AICF_PRODUCTS(40, AICF_NAMES20, AICF_SUMS_OF_40, "20", "21", "22", "23", "24", "25", "26")
AICF_PRODUCTS(48, AICF_NAMES24, AICF_SUMS_OF_48, "24", "25", "26", "27", "28", "29", "30")
AICF_PRODUCTS(56, AICF_NAMES28, AICF_SUMS_OF_56, "28", "29", "30", "31", "32", "33", "34")
AICF_PRODUCTS(64, AICF_NAMES32, AICF_SUMS_OF_64, "32", "33", "34", "35", "36", "37", "38")
AICF_PRODUCTS(80, AICF_NAMES40, AICF_SUMS_OF_80, "40", "41", "42", "43", "44", "45", "46")
AICF_PRODUCTS(96, AICF_NAMES48, AICF_SUMS_OF_96, "48", "49", "50", "51", "52", "53", "54")
AICF_PRODUCTS(112, AICF_NAMES56, AICF_SUMS_OF_112, "56", "57", "58", "59", "60", "61", "62")
AICF_PRODUCTS(128, AICF_NAMES64, AICF_SUMS_OF_128, "64", "65", "66", "67", "68", "69", "70")
AICF_PRODUCTS(144, AICF_NAMES72, AICF_SUMS_OF_144, "72", "73", "74", "75", "76", "77", "78")
AICF_PRODUCTS(160, AICF_NAMES80, AICF_SUMS_OF_160, "80", "81", "82", "83", "84", "85", "86")
AICF_PRODUCTS(176, AICF_NAMES88, AICF_SUMS_OF_176, "88", "89", "90", "91", "92", "93", "94")
AICF_PRODUCTS(192, AICF_NAMES96, AICF_SUMS_OF_192, "96", "97", "98", "99", "100", "101", "102")
AICF_PRODUCTS(224, AICF_NAMES112, AICF_SUMS_OF_224, "112", "113", "114", "115", "116", "117", "118")
AICF_PRODUCTS(256, AICF_NAMES128, AICF_SUMS_OF_256, "128", "129", "130", "131", "132", "133", "134")
#undef AICF_PRODUCT
#undef AICF_PRODUCTS

}  // namespace aicf
