// Accesses of ordinary threads to shared memory that the copy engine and the tensor cores use, too.
// One thin function per instruction of sm_90a; addresses are those of SharedAddress.
#pragma once

#include "common/ptx.cuh"

namespace aicf {

AICF_DEVICE void StoreWord(unsigned to, unsigned word) {
  asm volatile("st.shared.b32 [%0], %1;" ::"r"(to), "r"(word) : "memory");
}
AICF_DEVICE unsigned LoadWord(unsigned from) {
  unsigned word;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(word) : "r"(from) : "memory");
  return word;
}
/// 16 bytes, at an address that is a multiple of them.
AICF_DEVICE void LoadPiece(unsigned from, unsigned (&words)[4]) {
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(from)
               : "memory");
}
/// Zeros over 16 bytes, at an address that is a multiple of them.
AICF_DEVICE void ClearPiece(unsigned to) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %1, %1, %1};" ::"r"(to), "r"(0) : "memory");
}
/// Lets the copy engine and the tensor cores see what this thread has written to shared memory.
AICF_DEVICE void SharedWritesFence() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

}  // namespace aicf
