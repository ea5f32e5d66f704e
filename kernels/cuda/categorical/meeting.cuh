// How the blocks of a row's cluster tell each other what they know. Before a meeting (a barrier of
// the cluster) each block writes a message into its own shared memory; after the meeting all blocks
// read it. A block has two messages, which it uses in turn: while others still read the last one it
// may write the next. So a message stays valid until its block writes the one for the meeting after
// the next.
#pragma once

#include "categorical/row.cuh"

namespace aicf {

constexpr int kBins = 256;
static_assert(kBlockX >= kBins, "a bin for each of the first threads");

/// A 64-bit sum is kept as two words of 32 bits, for which there are atomic additions.
struct Message {
  u32 low[kBins], high[kBins];
  u64 total;
  u32 found;
};

struct alignas(16) SharedState {
  Message messages[2];
  u64 of_warp[32];
  u64 all;
  u64 bins_above, bins_weight;
  u32 bin;
};
static_assert(kDynamicShared >=
                  static_cast<int>(sizeof(SharedState)) +
                      (kCached != 0 ? static_cast<i64>(kBlockShare) * sizeof(Key) : 0),
              "the launch has the shared memory");

/// The inclusive sum over the lanes of a warp.
AICF_DEVICE u64 ScanOfWarp(u64 own) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const u64 before = __shfl_up_sync(0xffffffffu, own, step);
    if (lane >= step) own += before;
  }
  return own;
}

struct Sum {
  static AICF_DEVICE u64 Of(u64 a, u64 b) { return a + b; }
};
struct Largest {
  static AICF_DEVICE u64 Of(u64 a, u64 b) { return a > b ? a : b; }
};
template <class Op>
AICF_DEVICE u64 AllOfWarp(u64 own) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) own = Op::Of(own, ShuffleXor(own, step));
  return own;
}

/// A block's part in the meetings. Every thread of the block must come to every meeting.
struct Meetings {
  int rank, turn;

  static AICF_DEVICE SharedState& Shared() {
    return *reinterpret_cast<SharedState*>(DynamicShared());
  }
  static AICF_DEVICE void* Cache() { return DynamicShared() + sizeof(SharedState); }

  AICF_DEVICE explicit Meetings(int of_block) : rank(of_block), turn(0) {}
  /// The message for the next meeting.
  AICF_DEVICE Message& Mine() const { return Shared().messages[turn % 2]; }
  /// Meets the other blocks. Returns the place of the message for this meeting, which each block
  /// has in its own memory. It stays valid until the message for the meeting after the next is
  /// written.
  AICF_DEVICE Message& Meet() {
    if constexpr (kClusterX > 1)
      ClusterSharedBarrier();
    else
      __syncthreads();
    return Said();
  }
  /// Like Meet, for messages that blocks have written into each other's memory.
  AICF_DEVICE Message& MeetAfterSending() {
    if constexpr (kClusterX > 1)
      ClusterBarrier();
    else
      __syncthreads();
    return Said();
  }
  /// Reads from block `of` what it has at the place of *own.
  template <class T>
  static AICF_DEVICE T At(const T* own, int of) {
    if constexpr (kClusterX > 1)
      return LoadCluster(own, of);
    else
      return *own;
  }

  /// Combines the values of all threads of the cluster; every thread gets the result.
  template <class Op>
  AICF_DEVICE u64 Combine(u64 own) {
    SharedState& s = Shared();
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    own = AllOfWarp<Op>(own);
    if (lane == 0) s.of_warp[warp] = own;
    __syncthreads();
    if (warp == 0) {
      own = AllOfWarp<Op>(lane < kWarps ? s.of_warp[lane] : 0);
      if (lane == 0) Mine().total = own;
    }
    const Message& said = Meet();
    if (warp == 0) {
      own = AllOfWarp<Op>(lane < kClusterX ? At(&said.total, lane) : 0);
      if (lane == 0) s.all = own;
    }
    __syncthreads();
    return s.all;
  }

  /// The first category at which the running sum of weights is above `target`. REQUIRES that
  /// Combine<Sum> has just added up the weights of all categories and that the sum is above
  /// `target`. The first warp of the one block that has this category gets it, all other threads
  /// get kCategories.
  template <class W>
  AICF_DEVICE u32 FirstAbove(const Row& row, u64 target, W&& weigh) const {
    if (threadIdx.x >= 32) return kCategories;
    const SharedState& s = Shared();
    const int lane = static_cast<int>(threadIdx.x);
    const Message& said = s.messages[(turn + 1) % 2];
    const int owner = Pick(lane < kClusterX ? At(&said.total, lane) : 0, target);
    if (owner != rank) return kCategories;
    const int warp = Pick(lane < kWarps ? s.of_warp[lane] : 0, target);
    const u32 end = row.End(warp);
    for (u32 first = row.Begin(warp); first < end; first += 32 * kVector) {
      const u32 at = first + lane * kVector;
      u64 weights[kVector], own = 0;
#pragma unroll
      for (int j = 0; j < kVector; ++j) weights[j] = 0;
      if (at < end) {
        const Pack<Key, kVector> keys = row.Keys(at);
#pragma unroll
        for (int j = 0; j < kVector; ++j) own += weights[j] = weigh(at + j, u32{keys.v[j]});
      }
      const u64 running = ScanOfWarp(own);
      const u32 above = __ballot_sync(0xffffffffu, running > target);
      if (above == 0) {
        target -= __shfl_sync(0xffffffffu, running, 31);
        continue;
      }
      u64 before = running - own;
      u32 place = at;
#pragma unroll
      for (int j = 0; j < kVector; ++j) {
        before += weights[j];
        place += before <= target ? 1 : 0;
      }
      return __shfl_sync(0xffffffffu, place, __ffs(static_cast<int>(above)) - 1);
    }
    return kCategories;
  }

 private:
  AICF_DEVICE Message& Said() {
    Message& said = Mine();
    ++turn;
    return said;
  }
  /// The first lane at which the running sum of `own` is above `target`. Subtracts from `target`
  /// what the lanes before it sum up to.
  static AICF_DEVICE int Pick(u64 own, u64& target) {
    const u64 running = ScanOfWarp(own);
    const int lane = __ffs(static_cast<int>(__ballot_sync(0xffffffffu, running > target))) - 1;
    target -= __shfl_sync(0xffffffffu, running - own, lane);
    return lane;
  }
};

}  // namespace aicf
