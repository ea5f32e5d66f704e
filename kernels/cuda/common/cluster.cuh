// Writes from one block of a cluster into another one's shared memory. One thin function per
// instruction of sm_90a; addresses are those of SharedAddress.
#pragma once

#include "common/types.cuh"

namespace aicf {

/// The cluster-wide address of the place in the shared memory of block `rank` that corresponds to
/// `own` in this block's.
AICF_DEVICE unsigned AddressInBlock(unsigned own, int rank) {
  unsigned address;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(own), "r"(rank));
  return address;
}

/// Writes `value` to another block's shared memory and does not wait until it is there. `to` and
/// `barrier` are addresses in the same block, made by AddressInBlock; `to` is a multiple of the
/// value's bytes. The bytes count towards the barrier, so a thread of that block that has waited
/// for it (BarrierWait) sees the value.
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
