// What the copy engine copies to shared memory: boxes of a tensor, as a tensor map of rank 3 to 5
// describes them, and lines of memory. One thread asks; the bytes count towards a barrier of
// common/mbarrier.cuh. Coordinates of boxes are in elements, innermost first; what lies outside the
// tensor arrives as zeros and is counted like the rest.
#pragma once

#include "common/ptx.cuh"

namespace aicf {

/// Fetches the tensor map itself ahead of its first use.
AICF_DEVICE void PrefetchTensorMap(const void* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/// Copies `bytes` that follow each other in memory. Addresses and `bytes` are multiples of 16.
AICF_DEVICE void CopyLine(unsigned to, const void* from, int bytes, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(to),
      "l"(from), "r"(bytes), "r"(barrier)
      : "memory");
}

/// What tells the L2 cache to give up first what is copied with it.
AICF_DEVICE u64 ReadOncePolicy() {
  u64 policy;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
/// CopyLine with a policy of the L2 cache.
AICF_DEVICE void CopyLine(unsigned to, const void* from, int bytes, unsigned barrier, u64 policy) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1], %2, [%3], %4;" ::"r"(to),
      "l"(from), "r"(bytes), "r"(barrier), "l"(policy)
      : "memory");
}

AICF_DEVICE void CopyBox(unsigned to, const void* map, unsigned barrier, int x, int y, int z) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4, %5}], [%2];" ::"r"(to),
      "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z)
      : "memory");
}
AICF_DEVICE void CopyBox(unsigned to, const void* map, unsigned barrier, int x, int y, int z,
                         int w) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(to),
      "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z), "r"(w)
      : "memory");
}
AICF_DEVICE void CopyBox(unsigned to, const void* map, unsigned barrier, int x, int y, int z, int w,
                         int v) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4, %5, %6, %7}], [%2];" ::"r"(to),
      "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z), "r"(w), "r"(v)
      : "memory");
}
/// Copies a box of rank 3 or 5 to every block of the cluster whose bit is set in `blocks`. In each
/// block it goes to the same address, and its bytes count towards the barrier at the same address.
AICF_DEVICE void CopyBoxToBlocks(unsigned to, const void* map, unsigned barrier, int x, int y,
                                 int z, unsigned blocks) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(to),
      "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z), "h"(static_cast<unsigned short>(blocks))
      : "memory");
}
AICF_DEVICE void CopyBoxToBlocks(unsigned to, const void* map, unsigned barrier, int x, int y,
                                 int z, int w, int v, unsigned blocks) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%3, %4, %5, %6, %7}], [%2], %8;" ::"r"(to),
      "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z), "r"(w), "r"(v),
      "h"(static_cast<unsigned short>(blocks))
      : "memory");
}

}  // namespace aicf
