// The rows of A that gemm/gemv.cuh multiplies where it normalises them (kNormalizesRows). Each
// block multiplies them with the gain once, in shared memory, and adds up their squares on the way.
// What the squares say, one factor for each row, scales the finished sums (FactorOf), so that
// nobody waits for it. Products of rows and gain are rounded to bf16 in the math mode bf16. Every
// row has the same number of warps (kWarpsOfRow).
#pragma once

#include "gemm/gained.cuh"

namespace aicf {

constexpr int kWarpsOfRow = [] {
  int warps = kWarps;
  while (warps > 1 && (warps * kM > kWarps || kWarps % warps != 0)) --warps;
  return warps;
}();
constexpr int kRowsAtOnce = kWarps / kWarpsOfRow;
constexpr int kLanesOfRow = 32 * kWarpsOfRow;
constexpr int kPiecesOfLane =
    static_cast<int>((kLength + kLanesOfRow * kPiece - 1) / (kLanesOfRow * kPiece));
/// Whether a lane's pieces of the gain are so few that it holds them while it waits.
constexpr bool kHolds = kPiecesOfLane <= 2;
constexpr int kHeldPieces = kHolds && kPiecesOfLane > 0 ? kPiecesOfLane : 1;

/// Elements that one access moves: at most 16 bytes.
constexpr int kMoved =
    kPiece * sizeof(gained_t) <= 16 ? kPiece : 16 / static_cast<int>(sizeof(gained_t));

struct alignas(16) GainedRow {
  gained_t v[kLength > 0 ? kLength : 1];
  float squares[kWarpsOfRow];  ///< the sum of a warp's squares
};
AICF_DEVICE GainedRow* GainedRows() {
  __shared__ GainedRow rows[kM];
  return rows;
}

/// Loads kPiece neighbours of a row times the gain.
AICF_DEVICE void LoadGained(int m, index_t k, float (&x)[kPiece]) {
  typedef Pack<gained_t, kMoved> Made;
#pragma unroll
  for (int j = 0; j < kPiece; j += kMoved) {
    const Made made = *reinterpret_cast<const Made*>(GainedRows()[m].v + k + j);
#pragma unroll
    for (int i = 0; i < kMoved; ++i) x[j + i] = Widen(made.v[i]);
  }
}

/// The factor that normalises row m: the squares of its warps are added in their order. A row of no
/// elements, whose mean would be NaN, has no sums to scale.
AICF_DEVICE float FactorOf(int m) {
  if constexpr (kLength == 0) return 1.0f;
  float sum = GainedRows()[m].squares[0];
#pragma unroll
  for (int w = 1; w < kWarpsOfRow; ++w) sum = sum + GainedRows()[m].squares[w];
  return NormFactor(sum);
}

/// A lane's elements of one row.
class RowMaker {
 public:
  AICF_DEVICE RowMaker(const RowSource<In0>& a, const RowSource<GainView>& gain, int m)
      : a_(a), gain_(gain), m_(m) {}

  /// Loads the gain, where it is held in registers. It may be called before the wait with kAhead,
  /// because the gain is a constant then.
  AICF_DEVICE void HoldGain() {
    if constexpr (!kHolds) return;
#pragma unroll
    for (int p = 0; p < kHeldPieces; ++p) {
      if (Has(p)) gain_.Load(m_, At(p), gains_[p]);
    }
  }
  AICF_DEVICE void Make() {
    GainedRow& to = GainedRows()[m_];
    float squares = 0;
#pragma unroll
    for (int p = 0; p < kPiecesOfLane; ++p) {
      if (!Has(p)) continue;
      float x[kPiece];
      float(&g)[kPiece] = gains_[p % kHeldPieces];
      a_.Load(m_, At(p), x);
      if constexpr (!kHolds) gain_.Load(m_, At(p), g);
#pragma unroll
      for (int j = 0; j < kPiece; j += kMoved) {
        Pack<gained_t, kMoved> made;
#pragma unroll
        for (int i = 0; i < kMoved; ++i) {
          squares = fmaf(x[j + i], x[j + i], squares);
          made.v[i] = Narrow<gained_t>::Of(x[j + i] * g[j + i]);
        }
        *reinterpret_cast<Pack<gained_t, kMoved>*>(to.v + At(p) + j) = made;
      }
    }
#pragma unroll
    for (int s = 16; s > 0; s /= 2) squares = squares + ShuffleXor(squares, s);
    if (threadIdx.x == 0) to.squares[static_cast<int>(threadIdx.y) % kWarpsOfRow] = squares;
  }

 private:
  AICF_DEVICE static index_t At(int p) {
    const int lane = threadIdx.x + static_cast<int>(threadIdx.y) % kWarpsOfRow * 32;
    return (static_cast<index_t>(p) * kLanesOfRow + lane) * kPiece;
  }
  AICF_DEVICE static bool Has(int p) {
    return kLength % (kLanesOfRow * kPiece) == 0 || At(p) < kLength;
  }

  const RowSource<In0>& a_;
  const RowSource<GainView>& gain_;
  const int m_;
  float gains_[kHeldPieces][kPiece];
};

/// Multiplies all rows of the batch with the gain, after which every thread of the block may read
/// them and their factors. All threads of the block have to call it. `wait` is called once: after
/// the gain of the thread's first row has been requested, where it is held, and before A is read.
template <class Wait>
AICF_DEVICE void GainRows(const RowSource<In0>& a, const RowSource<GainView>& gain, Wait wait) {
  const int first = static_cast<int>(threadIdx.y) / kWarpsOfRow;
#pragma unroll
  for (int turn = 0; turn < (kM + kRowsAtOnce - 1) / kRowsAtOnce; ++turn) {
    const int m = first + turn * kRowsAtOnce;
    const bool is_row = m < kM;
    RowMaker row(a, gain, is_row ? m : 0);
    row.HoldGain();
    if (turn == 0) wait();
    if (is_row) row.Make();
  }
  __syncthreads();
}

}  // namespace aicf
