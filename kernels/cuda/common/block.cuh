// Exchange within a warp and within a block. All combine in a fixed order: results are
// deterministic.
#pragma once

namespace aicf {

AICF_DEVICE int ThreadInBlock() {
  return threadIdx.x + kBlockX * (threadIdx.y + kBlockY * static_cast<int>(threadIdx.z));
}

/// value of lane (own lane ^ mask), for trivially copyable T of whole 32-bit words.
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

/// `word`, which is the same in all lanes, in a way that lets the compiler know that it is: such
/// values have registers of their own, which matrix instructions read operands' names from.
AICF_DEVICE unsigned SameInWarp(unsigned word) { return __shfl_sync(0xffffffffu, word, 0); }

/// The value at *own in the shared memory of block `rank` of the cluster.
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
