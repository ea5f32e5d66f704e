// The functions of kernels/cuda/common/ptx.cuh on a CPU.
#pragma once

#include <limits>

#include "base/float16.h"

namespace aicf {

inline char* DynamicShared() { return emulator_calls.dynamic_shared; }
inline unsigned F32ToTf32(float f) {
  // Round half away from zero to 10 mantissa bits, as cvt.rna does.
  unsigned bits;
  std::memcpy(&bits, &f, 4);
  if ((bits & 0x7f800000u) == 0x7f800000u) return bits;
  return (bits + 0x1000u) & ~0x1fffu;
}

inline float MaxOrNan(float a, float b) { return a != a || a > b ? a : b; }
inline float MinOrNan(float a, float b) { return a != a || a < b ? a : b; }
inline float MaxOrOther(float a, float b) { return a > b || b != b ? a : b; }
inline float MinOrOther(float a, float b) { return a < b || b != b ? a : b; }
template <class T>
inline T TowardsZero(float a, T) {
  if (a != a) return 0;
  const double whole = std::trunc(static_cast<double>(a));
  const double least = std::numeric_limits<T>::lowest(), most = std::numeric_limits<T>::max();
  return static_cast<T>(whole < least ? least : whole > most ? most : whole);
}
template <class T>
inline T ToNearest(float a, T type) {
  return TowardsZero(std::nearbyint(a), type);
}
#define AICF_PACKED_CODES
template <class T>
inline unsigned PackedCodes(float a, float b, float c, float d, T type) {
  unsigned word = 0;
  for (float number : {d, c, b, a})
    word = word << 8 | static_cast<unsigned char>(ToNearest(number, type));
  return word;
}

#define AICF_PAIRED_MAXIMA
template <class T>
inline unsigned MaxPairsBy(unsigned a, unsigned b, const T& number) {
  const auto larger = [&](unsigned x, unsigned y) {
    const auto m = number(x), n = number(y);
    return m != m || m > n ? x : y;
  };
  return larger(a >> 16, b >> 16) << 16 | larger(a & 0xffff, b & 0xffff);
}
inline unsigned MaxPairsU16(unsigned a, unsigned b) {
  return MaxPairsBy(a, b, [](unsigned x) { return x; });
}
inline unsigned MaxPairsS16(unsigned a, unsigned b) {
  return MaxPairsBy(a, b, [](unsigned x) { return static_cast<short>(x); });
}
inline unsigned MaxPairsF16(unsigned a, unsigned b) {
  return MaxPairsBy(a, b, [](unsigned x) { return F16ToF32(static_cast<unsigned short>(x)); });
}
inline unsigned MaxPairsBF16(unsigned a, unsigned b) {
  return MaxPairsBy(a, b, [](unsigned x) { return BF16ToF32(static_cast<unsigned short>(x)); });
}

inline unsigned MaskXor(unsigned a, unsigned mask, unsigned bits) { return (a & mask) ^ bits; }

inline float Exp2Approx(float x) { return std::exp2(x); }
inline float ReciprocalApprox(float x) { return 1.0f / x; }

template <int N>
inline void CopyAsync(void* shared, const void* from, bool valid) {
  emulator_calls.copy(shared, valid ? from : nullptr, N);
}
inline void CopyCommit() { emulator_calls.copy_commit(); }
template <int N>
inline void CopyWait() {
  emulator_calls.copy_wait(N);
}
template <class T>
inline void HoldIndex(T&) {}
inline void HoldLoads() {}
inline void PrefetchSector(const void*) {}
struct Words4 {
  unsigned w[4];
};
inline Words4 LoadOnce(const void* p) {
  Words4 r;
  __builtin_memcpy(&r, p, sizeof r);
  return r;
}
// Kernels run one after the other here, so that none has to wait for another.
inline void WaitForPredecessors() {}
inline void LetSuccessorsStart() {}
inline void ClusterBarrier() { emulator_calls.cluster_barrier(); }
inline void ClusterSharedBarrier() { emulator_calls.cluster_barrier(); }
inline void LeaveCluster() { emulator_calls.cluster_barrier(); }

// Arriving does nothing: ClusterWait is a barrier of all blocks of the cluster, which have their
// memory by then.
inline void ClusterArrive() {}
inline void ClusterWait() { emulator_calls.cluster_barrier(); }

inline void StoreClusterWord(void* own, unsigned value, int rank) {
  const long offset = static_cast<const char*>(own) - emulator_calls.dynamic_shared;
  std::memcpy(emulator_calls.cluster_shared(rank) + offset, &value, 4);
}

inline unsigned LoadClusterWord(const void* own, int rank) {
  const long offset = static_cast<const char*>(own) - emulator_calls.dynamic_shared;
  unsigned word;
  std::memcpy(&word, emulator_calls.cluster_shared(rank) + offset, 4);
  return word;
}

inline int EmulatedLane() {
  return (emulated_thread.x +
          kEmulatedBlockX * (emulated_thread.y + kEmulatedBlockY * emulated_thread.z)) %
         32;
}

inline void LoadMatrix4(unsigned (&r)[4], const void* row) {
  const int lane = EmulatedLane();
  const void* rows[32];
  emulator_calls.warp_exchange(&row, sizeof row, rows);
  for (int m = 0; m < 4; ++m) {
    std::memcpy(&r[m], static_cast<const unsigned short*>(rows[m * 8 + lane / 4]) + lane % 4 * 2,
                4);
  }
}
inline void LoadMatrix2Transposed(unsigned (&r)[2], const void* row) {
  const int lane = EmulatedLane();
  const void* rows[32];
  emulator_calls.warp_exchange(&row, sizeof row, rows);
  for (int m = 0; m < 2; ++m) {
    unsigned short pair[2];
    for (int e = 0; e < 2; ++e) {
      pair[e] = static_cast<const unsigned short*>(rows[m * 8 + lane % 4 * 2 + e])[lane / 4];
    }
    std::memcpy(&r[m], pair, 4);
  }
}

// One lane's fragments of a 16 x K by K x 8 product; K elements are 32-bit words holding 1, 2 or 4
// values.
struct EmulatedFragments {
  unsigned a[4];
  unsigned b[2];
};

/// widen(word, i) is value i of a word's `per_word` values.
template <class T, class Widen>
inline void EmulatedMma(T (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2], int per_word,
                        Widen widen) {
  const int lane = EmulatedLane();
  EmulatedFragments own, all[32];
  std::memcpy(own.a, a, sizeof own.a);
  std::memcpy(own.b, b, sizeof own.b);
  emulator_calls.warp_exchange(&own, sizeof own, all);
  for (int e = 0; e < 4; ++e) {
    const int row = lane / 4 + e / 2 * 8, column = lane % 4 * 2 + e % 2;
    double sum = static_cast<double>(c[e]);
    for (int half = 0; half < 2; ++half) {
      for (int t = 0; t < 4; ++t) {
        const unsigned x = all[row % 8 * 4 + t].a[row / 8 + half * 2];
        const unsigned y = all[column * 4 + t].b[half];
        for (int i = 0; i < per_word; ++i) sum += widen(x, i) * widen(y, i);
      }
    }
    c[e] = static_cast<T>(sum);
  }
}

inline void MmaTf32(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  EmulatedMma(c, a, b, 1,
              [](unsigned w, int) { return static_cast<double>(__uint_as_float(w & ~0x1fffu)); });
}
inline void MmaS8(int (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  EmulatedMma(c, a, b, 4, [](unsigned w, int i) {
    return static_cast<double>(static_cast<signed char>(w >> (8 * i)));
  });
}
inline void MmaF16(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  EmulatedMma(c, a, b, 2, [](unsigned w, int i) {
    return static_cast<double>(F16ToF32(static_cast<unsigned short>(w >> (16 * i))));
  });
}
inline void MmaBF16(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  EmulatedMma(c, a, b, 2, [](unsigned w, int i) {
    return static_cast<double>(BF16ToF32(static_cast<unsigned short>(w >> (16 * i))));
  });
}

}  // namespace aicf
