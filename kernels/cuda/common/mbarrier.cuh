// Synchronisation of warps with different roles: memory barriers that count arrivals and bytes
// (mbarrier), numbered barriers of some of a block's threads, and a warpgroup's share of the
// registers. One thin function per instruction of sm_90a; addresses are those of SharedAddress.
#pragma once

#include "common/ptx.cuh"

namespace aicf {

/// A barrier in shared memory, 8 bytes and aligned to them, whose phases each end after `arrivals`
/// arrivals and after all the bytes that were announced for the phase.
AICF_DEVICE void BarrierInit(unsigned barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
/// Lets the copy engine and the other blocks of the cluster see the barriers initialised so far,
/// once a cluster barrier or __syncthreads follows.
AICF_DEVICE void BarrierInitFence() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
AICF_DEVICE void BarrierArrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
/// Arrives once the copies that the thread has started so far (CopyAsync) have landed. This counts
/// as one of the arrivals that the barrier was initialised with.
AICF_DEVICE void BarrierArriveAfterCopies(unsigned barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}
/// Arrives, and announces `bytes` that asynchronous copies will bring in the same phase.
AICF_DEVICE void BarrierArriveExpect(unsigned barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
/// Announces `bytes` for the current phase without arriving. The phase must not be able to end
/// before, so one of its arrivals has to follow.
AICF_DEVICE void BarrierExpect(unsigned barrier, int bytes) {
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
/// Arrives at the barrier that block `rank` of the cluster has at the same address. This orders no
/// memory, so it is only for telling that what has been read, by the tensor cores for example, may
/// be overwritten.
AICF_DEVICE void BarrierArriveAt(unsigned barrier, int rank) {
  asm volatile(
      "{\n"
      ".reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [remote];\n"
      "}" ::"r"(barrier),
      "r"(rank)
      : "memory");
}
/// Whether the phase of this parity (0 for the first phase) has ended; may wait for a while. The
/// parity tells apart no more than the barrier's current phase and the one before it.
AICF_DEVICE bool BarrierTest(unsigned barrier, unsigned parity) {
  unsigned ended;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
      "selp.u32 %0, 1, 0, p;\n"
      "}"
      : "=r"(ended)
      : "r"(barrier), "r"(parity)
      : "memory");
  return ended != 0;
}
/// The same, without waiting.
AICF_DEVICE bool BarrierHasEnded(unsigned barrier, unsigned parity) {
  unsigned ended;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\n"
      "selp.u32 %0, 1, 0, p;\n"
      "}"
      : "=r"(ended)
      : "r"(barrier), "r"(parity)
      : "memory");
  return ended != 0;
}
AICF_DEVICE void BarrierWait(unsigned barrier, unsigned parity) {
  while (!BarrierTest(barrier, parity)) {
  }
}

/// A numbered barrier (1 to 15) at which `threads` threads meet, in whole warps: those that wait
/// and those that only arrive.
AICF_DEVICE void NamedBarrierWait(int number, int threads) {
  asm volatile("barrier.cta.sync.aligned %0, %1;" ::"r"(number), "r"(threads) : "memory");
}
/// The same for warps whose threads may have diverged.
AICF_DEVICE void NamedBarrierMeet(int number, int threads) {
  asm volatile("barrier.cta.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}
AICF_DEVICE void NamedBarrierArrive(int number, int threads) {
  asm volatile("barrier.cta.arrive.aligned %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

/// Sets the number of registers per thread from here on, a multiple of 8. Every warp of a warpgroup
/// must execute it. RegistersDown gives registers back, RegistersUp waits until other warps have
/// given back enough.
template <int kCount>
AICF_DEVICE void RegistersDown() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kCount));
}
template <int kCount>
AICF_DEVICE void RegistersUp() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kCount));
}

}  // namespace aicf
