// A single exchange of numbers between the blocks of a cluster. They are written straight into the
// receiver's shared memory, where a barrier counts their bytes. A receiver waits for its own
// numbers alone, and nobody waits for stores to reach memory. No block has to stay for the others:
// what it sent does not lie in its own memory, and it ends only when all that is sent to it has
// come.
#pragma once

#include "common/cluster.cuh"
#include "common/mbarrier.cuh"

namespace aicf {

/// Every block of the cluster has one, at the same address of its shared memory.
struct Inbox {
  u64 barrier;

  /// Called by one thread, before its block's ClusterArrive. `bytes` is what all blocks together
  /// will send to this one, itself included. Other blocks may send after their ClusterWait.
  AICF_DEVICE void Open(int bytes) {
    const unsigned own = SharedAddress(&barrier);
    BarrierInit(own, 1);
    BarrierArriveExpect(own, bytes);
    BarrierInitFence();
  }
  /// Writes `value` to the shared memory of block `rank`, to the place where this block has *place.
  template <class T>
  AICF_DEVICE void Send(const T* place, const T& value, int rank) {
    SendToBlock(AddressInBlock(SharedAddress(place), rank), value,
                AddressInBlock(SharedAddress(&barrier), rank));
  }
  /// Called by every thread that reads what has been sent. REQUIRES: __syncthreads has followed
  /// Open.
  AICF_DEVICE void Await() { BarrierWait(SharedAddress(&barrier), 0); }
};

}  // namespace aicf
