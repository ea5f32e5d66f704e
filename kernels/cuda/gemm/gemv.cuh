// cuda.gemm.gemv: products with few rows. B is read once, and memory is the limit. Where B is
// contiguous along n, lanes take neighbouring columns and the warps of a block divide k; where it
// is contiguous along k, a warp takes a column and its lanes divide k. Partial sums are added in a
// fixed order. In a product of two halves (kProductHalves) the lane or warp that computes a column
// of results reads the column of B in both halves.
// Where A's rows are normalised (kNormalizesRows), every block multiplies them with the gain for
// itself, and scales the finished sums.
#pragma once

#include "gemm/column.cuh"
#include "gemm/gained_rows.cuh"

#define AICF_KERNEL_WAITS

namespace aicf {
static_assert(kBlockX == 32, "x is a warp");
constexpr index_t kBlockColumns = kAlongN ? 32 * kPiece : kWarps;
constexpr index_t kTiles = kN > 0 ? (kN - 1) / kBlockColumns + 1 : 1;

/// Whether the rows of A, which all warps read, profit from an L1 cache that keeps no weights. On
/// an H100 that gains 1 to 4 % of a token for columns of 4 KB and more, and costs 2 % for columns
/// of 1 to 3 KB.
constexpr bool kSparesCache = static_cast<i64>(kLength) * static_cast<i64>(sizeof(In1::S)) >= 4096;

struct Operands {
  RowSource<In0> a;
  RowSource<GainView> gain;
  const In1::S* b;

  AICF_DEVICE Operands(const Args& args, const Point& batch)
      : a(args.in[0], batch),
        gain(args.in[kGainInput], batch),
        b(static_cast<const In1::S*>(args.in[1]) + In1::kOffset) {
#pragma unroll
    for (int d = 0; d < kAxisM; ++d) b += batch.c[d] * In1::stride(d);
  }
  /// Loads kPiece neighbours along k of row m of A, times the gain where rows are normalised.
  AICF_DEVICE void Row(int m, index_t k, float (&x)[kPiece]) const {
    if constexpr (kNormalizesRows)
      LoadGained(m, k, x);
    else
      a.Load(m, k, x);
  }
  template <int N>
  AICF_DEVICE void B(index_t k, index_t n, Pack<In1::S, N> (&piece)[kProductHalves]) const {
#pragma unroll
    for (int h = 0; h < kProductHalves; ++h) {
      const In1::S* from = b + k * In1::stride(kAxisM) + (n + h * kN) * In1::stride(kAxisN);
      typedef Pack<In1::S, N> Piece;
      if constexpr (kSparesCache && sizeof(Piece) == sizeof(Words4)) {
        piece[h] = __builtin_bit_cast(Piece, LoadOnce(from));
      } else {
        piece[h] = *reinterpret_cast<const Piece*>(from);
      }
    }
  }
};

/// For a B that is contiguous along n: each lane has kPiece neighbouring columns, and the warps
/// divide k.
AICF_DEVICE void RowsOfB(const Args& args, const Operands& in, index_t n0, index_t batch) {
  constexpr int kUnroll = 4;
  __shared__ float partial[kWarps][kProductHalves][kM][32 * kPiece];
  typedef Pack<In1::S, kPiece> Piece;
  const int lane = threadIdx.x, warp = threadIdx.y;
  const index_t n = n0 + lane * kPiece;
  float sum[kProductHalves][kM][kPiece] = {};
  auto step = [&](index_t k, const Piece(&y)[kProductHalves]) {
#pragma unroll
    for (int m = 0; m < kM; ++m) {
      const float x = in.a.At(m, k);
#pragma unroll
      for (int h = 0; h < kProductHalves; ++h) {
#pragma unroll
        for (int j = 0; j < kPiece; ++j) sum[h][m][j] = fmaf(x, Widen(y[h].v[j]), sum[h][m][j]);
      }
    }
  };
  if (n < kN) {
    index_t k = warp;
    for (; k + (kUnroll - 1) * kWarps < kLength; k += kUnroll * kWarps) {
      Piece y[kUnroll][kProductHalves];
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) in.B(k + u * kWarps, n, y[u]);
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) step(k + u * kWarps, y[u]);
    }
    for (; k < kLength; k += kWarps) {
      Piece y[kProductHalves];
      in.B(k, n, y);
      step(k, y);
    }
  }
#pragma unroll
  for (int h = 0; h < kProductHalves; ++h) {
#pragma unroll
    for (int m = 0; m < kM; ++m) {
#pragma unroll
      for (int j = 0; j < kPiece; ++j) partial[warp][h][m][lane * kPiece + j] = sum[h][m][j];
    }
  }
  __syncthreads();
  for (int c = ThreadInBlock(); c < 32 * kPiece && n0 + c < kN; c += 32 * kWarps) {
    const Column column(args, n0 + c, batch);
    float total[kProductHalves][kM];
#pragma unroll
    for (int h = 0; h < kProductHalves; ++h) {
#pragma unroll
      for (int m = 0; m < kM; ++m) {
        total[h][m] = partial[0][h][m][c];
        for (int w = 1; w < kWarps; ++w) total[h][m] = total[h][m] + partial[w][h][m][c];
      }
    }
    column.Store(args, total);
  }
}

/// A column of B whose k the lanes of one warp divide. Each lane has kUnroll vectors of each half
/// in flight at once: all of its vectors where the column is short. Otherwise they come in turns of
/// the same size, as few as the registers that the sums of the rows leave allow.
struct SharedColumn {
  static constexpr index_t kStride = 32 * kPiece;
  static constexpr index_t kVectors = kLength > 0 ? (kLength - 1) / kStride + 1 : 1;
  static constexpr int kMost = kProductHalves > 1 || kM > 2 ? 4 : kM == 2 ? 8 : 12;
  static constexpr index_t kTurns = (kVectors - 1) / kMost + 1;
  static constexpr int kUnroll = static_cast<int>((kVectors - 1) / kTurns + 1);
  static constexpr bool kWholeTurns = kLength > 0 && kLength % (kUnroll * kStride) == 0;
  /// Sums of a lane that its elements are added to in turn, where there are few sums: an addition
  /// has to wait for the one before it.
  static constexpr int kChains = kM * kProductHalves <= 2 ? 4 : 1;
  typedef float Sums[kProductHalves][kM][kChains];
  const Operands& in;
  const index_t n;
  Pack<In1::S, kPiece> y[kUnroll][kProductHalves];

  static AICF_DEVICE bool Has(index_t k) { return kWholeTurns || k < kLength; }
  AICF_DEVICE void Load(index_t k) {
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (Has(k + u * kStride)) in.B(k + u * kStride, n, y[u]);
    }
  }
  AICF_DEVICE void Add(index_t k, Sums& sum) const {
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (!Has(k + u * kStride)) continue;
#pragma unroll
      for (int m = 0; m < kM; ++m) {
        float x[kPiece];
        in.Row(m, k + u * kStride, x);
#pragma unroll
        for (int h = 0; h < kProductHalves; ++h) {
#pragma unroll
          for (int j = 0; j < kPiece; ++j) {
            float& chain = sum[h][m][(u * kPiece + j) % kChains];
            chain = fmaf(x[j], Widen(y[u][h].v[j]), chain);
          }
        }
      }
    }
  }
  /// The sum of a lane's chains.
  static AICF_DEVICE float Total(float (&chains)[kChains]) {
    if constexpr (kChains == 1)
      return chains[0];
    else
      return (chains[0] + chains[1]) + (chains[2] + chains[3]);
  }
};

/// For a B that is contiguous along k: one column of results per warp. With kAhead the column's
/// first vectors are requested before the wait for the preceding kernel; B, and the gain of a norm,
/// are constants then. The next kernel may start as soon as these vectors are in flight, and
/// request its own constants while this kernel still waits. Where kernels are short, that hides the
/// time that they take to start.
AICF_DEVICE void ColumnOfB(const Args& args, const Operands& in, index_t n, index_t batch) {
  const bool valid = n < kN;
  SharedColumn shared{in, n};
  index_t k = static_cast<int>(threadIdx.x) * kPiece;
  if (kAhead != 0 && valid) shared.Load(k);
  LetSuccessorsStart();
  if (kAhead == 0 || !kNormalizesRows) WaitForPredecessors();
  if (kAhead == 0 && valid) shared.Load(k);
  if constexpr (kNormalizesRows) {
    GainRows(in.a, in.gain, [] {
      if (kAhead != 0) WaitForPredecessors();
    });
  }
  if (!valid) return;
  const Column column(args, n, batch);
  HoldLoads();
  SharedColumn::Sums sums = {};
  for (;;) {
    shared.Add(k, sums);
    k += SharedColumn::kUnroll * SharedColumn::kStride;
    if (k - static_cast<int>(threadIdx.x) * kPiece >= kLength) break;
    shared.Load(k);
  }
  float sum[kProductHalves][kM];
#pragma unroll
  for (int h = 0; h < kProductHalves; ++h) {
#pragma unroll
    for (int m = 0; m < kM; ++m) sum[h][m] = SharedColumn::Total(sums[h][m]);
  }
  // All sums take a step before the next one, so that their exchanges overlap.
#pragma unroll
  for (int s = 16; s > 0; s /= 2) {
#pragma unroll
    for (int h = 0; h < kProductHalves; ++h) {
#pragma unroll
      for (int m = 0; m < kM; ++m) sum[h][m] = sum[h][m] + ShuffleXor(sum[h][m], s);
    }
  }
  if constexpr (kNormalizesRows) {
#pragma unroll
    for (int m = 0; m < kM; ++m) {
      const float factor = FactorOf(m);
#pragma unroll
      for (int h = 0; h < kProductHalves; ++h) sum[h][m] *= factor;
    }
  }
  if (threadIdx.x == 0) column.Store(args, sum);
}

AICF_DEVICE void Kernel(const Args& args) {
  const index_t tile = blockIdx.x % kTiles;
  const index_t batch = blockIdx.x / kTiles;
  // A kernel must not end before the one before it has (KernelInfo::waits_first).
  if (batch >= kOutputCount2) return WaitForPredecessors();
  const Point point = OutputPoint(0, 0, batch);
  const Operands in(args, point);
  if constexpr (kAlongN) {
    WaitForPredecessors();
    LetSuccessorsStart();
    RowsOfB(args, in, tile * kBlockColumns, batch);
  } else {
    ColumnOfB(args, in, tile * kBlockColumns + threadIdx.y, batch);
  }
}

}  // namespace aicf
