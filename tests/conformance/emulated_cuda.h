// CUDA C++ for a CPU compiler: what an instance's text needs, so that g++ can compile it and the
// emulator (emulator.cc) can run its threads as fibers. Replaces kernels/cuda/common/ptx.cuh.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "tests/conformance/emulated_barrier.h"

#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(n) alignas(n)
// Every block of a cluster runs on a thread of its own.
#define __shared__ static thread_local
#define AICF_DEVICE inline

struct EmulatedIndex {
  int x, y, z;
};

/// Filled in by the emulator before the first instruction of a thread.
struct EmulatorCalls {
  void (*block_barrier)();
  void (*cluster_barrier)();
  /// Exchanges `bytes` bytes between the 32 lanes of the warp: all[lane] becomes what that lane
  /// gave.
  void (*warp_exchange)(const void* own, int bytes, void* all);
  char* dynamic_shared;
  /// The dynamic shared memory of block `rank` of the cluster.
  char* (*cluster_shared)(int rank);
  /// Asynchronous copies: copy() adds a copy to the thread's current group (zeros if `from` is
  /// nullptr), copy_commit() ends the group, and copy_wait() waits until at most `groups` of the
  /// ended groups are under way. Nothing is copied before a wait or the end of the thread demands
  /// it.
  void (*copy)(void* to, const void* from, int bytes);
  void (*copy_commit)();
  void (*copy_wait)(int groups);
  /// Waits until the phase of this parity of a barrier in shared memory has ended.
  void (*barrier_wait)(const EmulatedBarrier* barrier, unsigned parity);
  /// Copies to shared memory some time later, and takes the bytes off those that the barrier waits
  /// for.
  void (*copy_line)(void* to, const void* from, int bytes, EmulatedBarrier* barrier);
};

static thread_local EmulatedIndex emulated_thread, emulated_block;
static thread_local EmulatorCalls emulator_calls;

#define EMULATOR_EXPORT __attribute__((visibility("default")))
extern "C" EMULATOR_EXPORT void emulated_set(EmulatedIndex thread, EmulatedIndex block,
                                             const EmulatorCalls* calls) {
  emulated_thread = thread;
  emulated_block = block;
  emulator_calls = *calls;
}

#define threadIdx emulated_thread
#define blockIdx emulated_block

static inline void __syncthreads() { emulator_calls.block_barrier(); }

static inline int EmulatedLaneOfWarp() {
  return (emulated_thread.x +
          kEmulatedBlockX * (emulated_thread.y + kEmulatedBlockY * emulated_thread.z)) %
         32;
}

template <class T>
inline T __shfl_xor_sync(unsigned, T value, int mask) {
  // The lane is read before the exchange, because other threads run during it.
  const int lane = EmulatedLaneOfWarp();
  T all[32];
  emulator_calls.warp_exchange(&value, sizeof(T), all);
  return all[lane ^ mask];
}

template <class T>
inline T __shfl_sync(unsigned, T value, int source) {
  T all[32];
  emulator_calls.warp_exchange(&value, sizeof(T), all);
  return all[source % 32];
}

template <class T>
inline T __shfl_up_sync(unsigned, T value, int distance) {
  const int lane = EmulatedLaneOfWarp();
  T all[32];
  emulator_calls.warp_exchange(&value, sizeof(T), all);
  return all[lane >= distance ? lane - distance : lane];
}

static inline void __syncwarp() {
  const char own = 0;
  char all[32];
  emulator_calls.warp_exchange(&own, sizeof own, all);
}

static inline unsigned __ballot_sync(unsigned, bool predicate) {
  bool all[32];
  emulator_calls.warp_exchange(&predicate, sizeof predicate, all);
  unsigned bits = 0;
  for (int lane = 0; lane < 32; ++lane) bits |= static_cast<unsigned>(all[lane]) << lane;
  return bits;
}
/// Needs no atomic instruction: the threads of a block are fibers of one thread.
static inline unsigned atomicAdd(unsigned* at, unsigned value) {
  const unsigned before = *at;
  *at += value;
  return before;
}
static inline int __ffs(int v) { return __builtin_ffs(v); }
static inline int __popc(unsigned v) { return __builtin_popcount(v); }

static inline unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
  const unsigned long long bytes = static_cast<unsigned long long>(high) << 32 | low;
  unsigned out = 0;
  for (unsigned i = 0; i < 4; ++i) {
    out |= static_cast<unsigned>(bytes >> (selector >> 4 * i & 7) * 8 & 0xff) << 8 * i;
  }
  return out;
}
static inline float __uint_as_float(unsigned v) {
  float f;
  std::memcpy(&f, &v, 4);
  return f;
}
static inline unsigned __float_as_uint(float f) {
  unsigned v;
  std::memcpy(&v, &f, sizeof v);
  return v;
}
static inline float __int_as_float(int v) {
  float f;
  std::memcpy(&f, &v, 4);
  return f;
}
static inline double __longlong_as_double(long long v) {
  double f;
  std::memcpy(&f, &v, 8);
  return f;
}
