// What kernels that fill rings in shared memory need of kernels/cuda/common/mbarrier.cuh and
// tma.cuh, on a CPU. An address in shared memory is its distance from the block's dynamic memory,
// so barriers and copied lines have to lie there.
#pragma once

#include "tests/conformance/emulated_ptx.h"

namespace aicf {

inline unsigned SharedAddress(const void* p) {
  return static_cast<unsigned>(static_cast<const char*>(p) - emulator_calls.dynamic_shared);
}
inline EmulatedBarrier* BarrierAt(unsigned address) {
  return reinterpret_cast<EmulatedBarrier*>(emulator_calls.dynamic_shared + address);
}
inline void BarrierInit(unsigned barrier, int arrivals) {
  EmulatedBarrier& b = *BarrierAt(barrier);
  b.parity = 0;
  b.arrivals = b.missing = static_cast<unsigned>(arrivals);
  b.missing_bytes = 0;
}
inline void BarrierInitFence() {}
inline void BarrierArrive(unsigned barrier) {
  EmulatedBarrier& b = *BarrierAt(barrier);
  --b.missing;
  b.EndPhaseIfComplete();
}
inline void BarrierArriveExpect(unsigned barrier, int bytes) {
  BarrierAt(barrier)->missing_bytes += bytes;
  BarrierArrive(barrier);
}
inline void BarrierWait(unsigned barrier, unsigned parity) {
  emulator_calls.barrier_wait(BarrierAt(barrier), parity);
}

inline u64 ReadOncePolicy() { return 0; }
inline void CopyLine(unsigned to, const void* from, int bytes, unsigned barrier, u64 = 0) {
  emulator_calls.copy_line(emulator_calls.dynamic_shared + to, from, bytes, BarrierAt(barrier));
}

}  // namespace aicf
