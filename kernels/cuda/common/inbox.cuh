// What the blocks of a cluster send each other once: numbers written straight into the receiver's
// shared memory, which counts their bytes. A receiver waits for its own numbers alone, nobody waits
// for stores to reach memory, and no block has to outlive another: what it sent is not in its own
// memory, and it ends when all that is sent to it has come.
#pragma once

#include "common/cluster.cuh"
#include "common/mbarrier.cuh"

namespace aicf {

/// One in the shared memory of every block of the cluster.
struct Inbox {
  u64 barrier;

  /// One thread, before its block's ClusterArrive: the bytes that the blocks will send, its own
  /// included. Others may send after their ClusterWait.
  AICF_DEVICE void Open(int bytes) {
    const unsigned own = SharedAddress(&barrier);
    BarrierInit(own, 1);
    BarrierArriveExpect(own, bytes);
    BarrierInitFence();
  }
  /// Writes to the shared memory of block `rank`, where this block has *place.
  template <class T>
  AICF_DEVICE void Send(const T* place, const T& value, int rank) {
    SendToBlock(AddressInBlock(SharedAddress(place), rank), value,
                AddressInBlock(SharedAddress(&barrier), rank));
  }
  /// Every thread that reads what has been sent; __syncthreads has followed Open.
  AICF_DEVICE void Await() { BarrierWait(SharedAddress(&barrier), 0); }
};

}  // namespace aicf
