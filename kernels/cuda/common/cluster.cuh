// What the warps of a cluster's blocks exchange through each other's shared memory: barriers that
// order memory between blocks, and reads of another block's memory. One thin function per
// instruction of sm_90a; addresses are those of SharedAddress.
#pragma once

#include "common/types.cuh"

namespace aicf {

/// The two halves of ClusterBarrier: says that the thread has come by, and waits until all of the
/// cluster's have. Those that need not wait only arrive.
AICF_DEVICE void ClusterArrive() { asm volatile("barrier.cluster.arrive.release;" ::: "memory"); }
AICF_DEVICE void ClusterWait() { asm volatile("barrier.cluster.wait.acquire;" ::: "memory"); }

/// The address under which block `rank` of the cluster has what this block has at `own`.
AICF_DEVICE unsigned AddressInBlock(unsigned own, int rank) {
  unsigned address;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(own), "r"(rank));
  return address;
}

/// Arrives at the barrier that block `rank` of the cluster has at the same address. What this
/// thread has read and written before, and what it has seen of other threads, comes before whatever
/// follows the wait there.
AICF_DEVICE void BarrierReleaseAt(unsigned barrier, int rank) {
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(
                   AddressInBlock(barrier, rank))
               : "memory");
}
/// Waits for the phase of this parity (0 for the first phase), and sees what the threads that
/// arrived by BarrierReleaseAt had written, whichever blocks they are of.
AICF_DEVICE void BarrierAcquire(unsigned barrier, unsigned parity) {
  unsigned ended = 0;
  while (ended == 0) {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n"
        "}"
        : "=r"(ended)
        : "r"(barrier), "r"(parity)
        : "memory");
  }
}

/// N values (1, 2 or 4) at an address of AddressInBlock that is a multiple of their bytes.
template <int N>
AICF_DEVICE Pack<float, N> LoadFromBlock(unsigned address) {
  Pack<float, N> value;
  if constexpr (N == 4) {
    asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(value.v[0]), "=f"(value.v[1]), "=f"(value.v[2]), "=f"(value.v[3])
                 : "r"(address)
                 : "memory");
  } else if constexpr (N == 2) {
    asm volatile("ld.shared::cluster.v2.f32 {%0, %1}, [%2];"
                 : "=f"(value.v[0]), "=f"(value.v[1])
                 : "r"(address)
                 : "memory");
  } else {
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value.v[0]) : "r"(address) : "memory");
  }
  return value;
}

}  // namespace aicf
