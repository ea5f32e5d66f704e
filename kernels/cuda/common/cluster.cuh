// What the warps of a cluster's blocks exchange through each other's shared memory. One thin
// function per instruction of sm_90a; addresses are those of SharedAddress.
#pragma once

#include "common/types.cuh"

namespace aicf {

/// The address under which block `rank` of the cluster has what this block has at `own`.
AICF_DEVICE unsigned AddressInBlock(unsigned own, int rank) {
  unsigned address;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(own), "r"(rank));
  return address;
}

/// Writes to another block's memory without waiting for it, at an address of AddressInBlock that is
/// a multiple of the value's bytes. The bytes count towards `barrier` of the same block, whose
/// BarrierWait sees them.
AICF_DEVICE void SendToBlock(unsigned to, float value, unsigned barrier) {
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %1, [%2];" ::"r"(to),
      "f"(value), "r"(barrier)
      : "memory");
}
AICF_DEVICE void SendToBlock(unsigned to, const Pack<float, 2>& pair, unsigned barrier) {
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.f32 [%0], {%1, %2}, [%3];" ::"r"(
          to),
      "f"(pair.v[0]), "f"(pair.v[1]), "r"(barrier)
      : "memory");
}
AICF_DEVICE void SendToBlock(unsigned to, int value, unsigned barrier) {
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.s32 [%0], %1, [%2];" ::"r"(to),
      "r"(value), "r"(barrier)
      : "memory");
}
AICF_DEVICE void SendToBlock(unsigned to, const Pack<int, 2>& pair, unsigned barrier) {
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.s32 [%0], {%1, %2}, [%3];" ::"r"(
          to),
      "r"(pair.v[0]), "r"(pair.v[1]), "r"(barrier)
      : "memory");
}

}  // namespace aicf
