// Instructions that CUDA C++ has no plain spelling for, one thin function each. Nearly everything
// else in kernels/cuda is portable C++, so a test can replace this file, inbox.cuh, and what
// gemm/stream.cuh and blockgemm/stream.cuh take from mbarrier.cuh and tma.cuh, and run the kernels
// on a CPU. Only gemm/hopper.cuh, conv/hopper.cuh and attention/hopper.cuh need more of the chip
// (the rest of these two, rounded_pair.cuh, shared_words.cuh, cluster.cuh, wgmma.cuh) and run
// nowhere else.
#pragma once

#define AICF_DEVICE __device__ __forceinline__

namespace aicf {

AICF_DEVICE float F16ToF32(unsigned short h) {
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
  return f;
}
AICF_DEVICE unsigned short F32ToF16(float f) {
  unsigned short h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(f));
  return h;
}
AICF_DEVICE unsigned short F32ToBF16(float f) {
  unsigned short h;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(h) : "f"(f));
  return h;
}
/// The larger and the smaller of two numbers; NaN where either is one.
AICF_DEVICE float MaxOrNan(float a, float b) {
  float m;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(m) : "f"(a), "f"(b));
  return m;
}
AICF_DEVICE float MinOrNan(float a, float b) {
  float m;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(m) : "f"(a), "f"(b));
  return m;
}
/// The same, but where one of them is NaN it is the other number.
AICF_DEVICE float MaxOrOther(float a, float b) { return fmaxf(a, b); }
AICF_DEVICE float MinOrOther(float a, float b) { return fminf(a, b); }
/// `a` converted to an integer of at most 32 bits, whose type is that of the last argument: rounded
/// towards zero, or to the nearest with ties to even. Beyond the type's range it is the nearest end
/// of the range, and 0 for NaN.
#define AICF_FLOAT_TO_INTEGER(T, type)                          \
  AICF_DEVICE T TowardsZero(float a, T) {                       \
    int whole;                                                  \
    asm("cvt.rzi." type ".f32 %0, %1;" : "=r"(whole) : "f"(a)); \
    return static_cast<T>(whole);                               \
  }                                                             \
  AICF_DEVICE T ToNearest(float a, T) {                         \
    int whole;                                                  \
    asm("cvt.rni." type ".f32 %0, %1;" : "=r"(whole) : "f"(a)); \
    return static_cast<T>(whole);                               \
  }
AICF_FLOAT_TO_INTEGER(signed char, "s8")
AICF_FLOAT_TO_INTEGER(unsigned char, "u8")
AICF_FLOAT_TO_INTEGER(short, "s16")
AICF_FLOAT_TO_INTEGER(unsigned short, "u16")
AICF_FLOAT_TO_INTEGER(int, "s32")
AICF_FLOAT_TO_INTEGER(unsigned, "u32")
#undef AICF_FLOAT_TO_INTEGER
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
/// Four numbers rounded to nearest even and saturated to codes of 8 bits, in one word, the first in
/// its lowest byte; NaN is 0. The compiler makes two instructions (F2IP) of these six.
#define AICF_PACKED_CODES
#define AICF_PACK(T, type)                                                      \
  AICF_DEVICE unsigned PackedCodes(float a, float b, float c, float d, T) {     \
    unsigned word;                                                              \
    asm("{.reg .s32 i, j, k, l; cvt.rni.s32.f32 i, %1; cvt.rni.s32.f32 j, %2; " \
        "cvt.rni.s32.f32 k, %3; cvt.rni.s32.f32 l, %4; cvt.pack.sat." type      \
        ".s32.b32 %0, l, k, "                                                   \
        "0; cvt.pack.sat." type ".s32.b32 %0, j, i, %0;}"                       \
        : "=r"(word)                                                            \
        : "f"(a), "f"(b), "f"(c), "f"(d));                                      \
    return word;                                                                \
  }
AICF_PACK(signed char, "s8")
AICF_PACK(unsigned char, "u8")
#undef AICF_PACK
/// The larger ones of both pairs of 16-bit elements in two words: of integers, or of f16 or bf16,
/// for which NaN is larger than any number.
#define AICF_PAIRED_MAXIMA
#define AICF_MAX_PAIRS(name, type)                              \
  AICF_DEVICE unsigned name(unsigned a, unsigned b) {           \
    unsigned m;                                                 \
    asm("max." type " %0, %1, %2;" : "=r"(m) : "r"(a), "r"(b)); \
    return m;                                                   \
  }
AICF_MAX_PAIRS(MaxPairsU16, "u16x2")
AICF_MAX_PAIRS(MaxPairsS16, "s16x2")
AICF_MAX_PAIRS(MaxPairsF16, "NaN.f16x2")
AICF_MAX_PAIRS(MaxPairsBF16, "NaN.bf16x2")
#undef AICF_MAX_PAIRS
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
/// Float8 of the OCP formats E4M3 and E5M2: the nearest with ties to even, saturated; NaN is 0x7f.
#define AICF_FLOAT8_INSTRUCTIONS
AICF_DEVICE unsigned char F32ToE4M3(float a) {
  unsigned short pair;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(a));
  return static_cast<unsigned char>(pair);
}
AICF_DEVICE unsigned char F32ToE5M2(float a) {
  unsigned short pair;
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(a));
  return static_cast<unsigned char>(pair);
}
AICF_DEVICE float E4M3ToF32(unsigned char code) {
  unsigned pair;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"(static_cast<unsigned short>(code)));
  return F16ToF32(static_cast<unsigned short>(pair));
}
AICF_DEVICE float E5M2ToF32(unsigned char code) {
  unsigned pair;
  asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(pair) : "h"(static_cast<unsigned short>(code)));
  return F16ToF32(static_cast<unsigned short>(pair));
}
#endif
/// 2^x within 2 ULP; 0 where the result would be too small for a normal number.
AICF_DEVICE float Exp2Approx(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
/// 1/x within 1 ULP; 0 where the result would be too small for a normal number.
AICF_DEVICE float ReciprocalApprox(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
/// f32 rounded to the 10-bit mantissa that tensor cores read.
AICF_DEVICE unsigned F32ToTf32(float f) {
  unsigned t;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(t) : "f"(f));
  return t;
}

/// (a & mask) ^ bits in one instruction. Of the plain expression the compiler makes two where mask
/// and bits are constants.
AICF_DEVICE unsigned MaskXor(unsigned a, unsigned mask, unsigned bits) {
  unsigned d;
  asm("lop3.b32 %0, %1, %2, %3, 0x6a;" : "=r"(d) : "r"(a), "r"(mask), "r"(bits));
  return d;
}

/// Makes the compiler compute `index` before this point instead of later.
AICF_DEVICE void HoldIndex(int& index) { asm volatile("" : "+r"(index)); }
AICF_DEVICE void HoldIndex(long long& index) { asm volatile("" : "+l"(index)); }

/// Keeps the compiler from moving loads from before this point behind it, to where their values are
/// used.
AICF_DEVICE void HoldLoads() { asm volatile("" ::: "memory"); }

/// Waits until the kernels that this one depends on have finished and what they wrote can be seen.
/// If the launch was not programmatic they have finished already, and this returns at once.
AICF_DEVICE void WaitForPredecessors() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
/// Lets the next kernel start, if its launch is programmatic, once every block of this one has come
/// here. That kernel still waits for the end of this one (WaitForPredecessors) before it touches
/// memory that kernels write.
AICF_DEVICE void LetSuccessorsStart() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Asks for the sector of global memory that holds *p, to be read from the L2 cache later.
AICF_DEVICE void PrefetchSector(const void* p) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
}

struct Words4 {
  unsigned w[4];
};
/// Loads 16 aligned bytes of global memory, of which the L1 cache keeps nothing: what is read once
/// should leave it to what is read again.
AICF_DEVICE Words4 LoadOnce(const void* p) {
  Words4 r;
  asm volatile("ld.global.L1::no_allocate.L2::128B.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(r.w[0]), "=r"(r.w[1]), "=r"(r.w[2]), "=r"(r.w[3])
               : "l"(p)
               : "memory");
  return r;
}

/// The block's dynamic shared memory.
AICF_DEVICE char* DynamicShared() {
  extern __shared__ __align__(16) char memory[];
  return memory;
}
AICF_DEVICE unsigned SharedAddress(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

/// Starts copying N bytes (4, 8 or 16) from global to shared memory; zeros when !valid, and then
/// `from` is not read.
template <int N>
AICF_DEVICE void CopyAsync(void* shared, const void* from, bool valid) {
  const int bytes = valid ? N : 0;
  if constexpr (N == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(SharedAddress(shared)),
                 "l"(from), "r"(bytes)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(SharedAddress(shared)),
                 "l"(from), "n"(N), "r"(bytes)
                 : "memory");
  }
}
AICF_DEVICE void CopyCommit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/// Waits until at most N committed groups of this thread are unfinished.
template <int N>
AICF_DEVICE void CopyWait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

/// The word that block `rank` of the cluster has in its shared memory where this block has *own.
AICF_DEVICE unsigned LoadClusterWord(const void* own, int rank) {
  unsigned address, value;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(SharedAddress(own)), "r"(rank));
  asm volatile("ld.shared::cluster.b32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
  return value;
}

/// Writes to the shared memory of block `rank` of the cluster, to the place where this block has
/// *own. The value can be seen after the cluster's next barrier.
AICF_DEVICE void StoreClusterWord(void* own, unsigned value, int rank) {
  unsigned address;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(SharedAddress(own)), "r"(rank));
  asm volatile("st.shared::cluster.b32 [%0], %1;" ::"r"(address), "r"(value) : "memory");
}

/// The two halves of a barrier of the cluster: ClusterArrive says that the thread has come by,
/// ClusterWait waits until all threads of the cluster have. The barrier orders no memory except,
/// after BarrierInitFence, the initialisation of barriers. Threads that need not wait only arrive.
AICF_DEVICE void ClusterArrive() { asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory"); }
AICF_DEVICE void ClusterWait() { asm volatile("barrier.cluster.wait;" ::: "memory"); }

/// Barrier of all threads of the cluster; global and shared memory written before it is seen after
/// it. Each thread waits until its stores have reached the second level of cache.
AICF_DEVICE void ClusterBarrier() {
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}
/// The same, but orders only what each block wrote to its own shared memory before the barrier and
/// others read after it (LoadClusterWord). It orders no global memory, and so waits for no stores
/// to it.
AICF_DEVICE void ClusterSharedBarrier() {
#if __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1208  // PTX 8.7
  asm volatile("fence.release.sync_restrict::shared::cta.cluster;" ::: "memory");
  ClusterArrive();
  ClusterWait();
  asm volatile("fence.acquire.sync_restrict::shared::cluster.cluster;" ::: "memory");
#else
  ClusterBarrier();
#endif
}
/// The last thing that a block does if other blocks of the cluster read or write its shared memory.
/// It waits until all blocks have come here, each of them with what it read in registers.
AICF_DEVICE void LeaveCluster() {
  ClusterArrive();
  ClusterWait();
}

/// Loads four 8x8 matrices of 16-bit elements; lane i names row i % 8 of matrix i / 8.
AICF_DEVICE void LoadMatrix4(unsigned (&r)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(SharedAddress(row))
               : "memory");
}
/// The same for two matrices, each transposed; lanes 0..15 name the rows.
AICF_DEVICE void LoadMatrix2Transposed(unsigned (&r)[2], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(r[0]), "=r"(r[1])
               : "r"(SharedAddress(row))
               : "memory");
}

/// c += a * b on tensor cores: a 16x8 and b 8x8 of tf32, c 16x8 of f32, in the lanes' fragments.
AICF_DEVICE void MmaTf32(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
/// a 16x16 and b 16x8 of f16.
AICF_DEVICE void MmaF16(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
/// a 16x32 and b 32x8 of i8, c of i32.
AICF_DEVICE void MmaS8(int (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
/// a 16x16 and b 16x8 of bf16.
AICF_DEVICE void MmaBF16(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

}  // namespace aicf
