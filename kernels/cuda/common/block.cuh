// Exchange of values between the lanes of a warp and between the blocks of a cluster. Who gets
// whose value is fixed, so results that are combined from them are deterministic.
#pragma once

namespace aicf {

AICF_DEVICE int ThreadInBlock() {
  const int z = kBlockZ > 1 ? static_cast<int>(threadIdx.z) : 0;
  return threadIdx.x + kBlockX * (threadIdx.y + kBlockY * z);
}

/// The `value` of lane (own lane ^ mask), for trivially copyable T of whole 32-bit words.
template <class T>
AICF_DEVICE T ShuffleXor(T value, int mask) {
  static_assert(sizeof(T) % 4 == 0, "moved in 32-bit words");
  union {
    T value;
    u32 words[sizeof(T) / 4];
  } box;
  box.value = value;
#pragma unroll
  for (int w = 0; w < static_cast<int>(sizeof(T)) / 4; ++w) {
    box.words[w] = __shfl_xor_sync(0xffffffffu, box.words[w], mask);
  }
  return box.value;
}

/// Returns `word`, which must be the same in all lanes, in a way that tells the compiler so. It can
/// then keep the value in a register that the whole warp shares, where matrix instructions look for
/// the descriptors of their operands.
AICF_DEVICE unsigned SameInWarp(unsigned word) { return __shfl_sync(0xffffffffu, word, 0); }

/// The value that block `rank` of the cluster has in its shared memory where this block has *own.
template <class T>
AICF_DEVICE T LoadCluster(const T* own, int rank) {
  static_assert(sizeof(T) % 4 == 0, "moved in 32-bit words");
  union {
    T value;
    u32 words[sizeof(T) / 4];
  } box;
#pragma unroll
  for (int w = 0; w < static_cast<int>(sizeof(T)) / 4; ++w) {
    box.words[w] = LoadClusterWord(reinterpret_cast<const char*>(own) + 4 * w, rank);
  }
  return box.value;
}

}  // namespace aicf
