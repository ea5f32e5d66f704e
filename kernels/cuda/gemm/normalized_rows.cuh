// The normalised rows of A that gemm/gemv.cuh multiplies (kNormalizesRows). Each block computes
// them once, in shared memory, and rounds them as the math mode rounds operands, so that results
// are the same as with a separate step for the norm. Every row has the same number of warps
// (kWarpsOfRow).
#pragma once

#include "common/enums.cuh"
#include "gemm/rows.cuh"

namespace aicf {

constexpr int kWarpsOfRow = [] {
  int warps = kWarps;
  while (warps > 1 && (warps * kM > kWarps || kWarps % warps != 0)) --warps;
  return warps;
}();
constexpr int kRowsAtOnce = kWarps / kWarpsOfRow;
constexpr int kLanesOfRow = 32 * kWarpsOfRow;
/// Pieces of a row that a lane has. If they are few (kHolds), they stay in registers between the
/// two passes over the row, of which one adds up squares and the other scales.
constexpr int kPiecesOfLane =
    static_cast<int>((kLength + kLanesOfRow * kPiece - 1) / (kLanesOfRow * kPiece));
constexpr bool kHolds = kPiecesOfLane <= 2;
constexpr int kHeldPieces = kHolds && kPiecesOfLane > 0 ? kPiecesOfLane : 1;

typedef Either<(kMath == kBf16 && kSame<In0::S, bf16>) || (kMath == kFp16 && kSame<In0::S, f16>),
               In0::S, float>::T row_t;

/// Elements that one access moves: at most 16 bytes.
constexpr int kMoved = kPiece * sizeof(row_t) <= 16 ? kPiece : 16 / static_cast<int>(sizeof(row_t));

struct alignas(16) NormalizedRow {
  row_t v[kLength > 0 ? kLength : 1];
};
AICF_DEVICE NormalizedRow* NormalizedRows() {
  __shared__ NormalizedRow rows[kM];
  return rows;
}

/// Loads kPiece neighbours of a row that has been normalised.
AICF_DEVICE void LoadNormalized(int m, index_t k, float (&x)[kPiece]) {
  typedef Pack<row_t, kMoved> Made;
#pragma unroll
  for (int j = 0; j < kPiece; j += kMoved) {
    const Made made = *reinterpret_cast<const Made*>(NormalizedRows()[m].v + k + j);
#pragma unroll
    for (int i = 0; i < kMoved; ++i) x[j + i] = Widen(made.v[i]);
  }
}

/// The sum of `value` over the warps of a row, in the order of the warps. All threads of the block
/// have to call it: it may contain a barrier of the block.
AICF_DEVICE float SumOfRow(float value) {
  __shared__ float sums[kWarps];
#pragma unroll
  for (int s = 16; s > 0; s /= 2) value = value + ShuffleXor(value, s);
  if constexpr (kWarpsOfRow > 1) {
    if (threadIdx.x == 0) sums[threadIdx.y] = value;
    __syncthreads();
    const int first = static_cast<int>(threadIdx.y) / kWarpsOfRow * kWarpsOfRow;
    value = sums[first];
#pragma unroll
    for (int w = 1; w < kWarpsOfRow; ++w) value = value + sums[first + w];
  }
  return value;
}

/// A lane's elements of one row: their squares are added up, then they are scaled and stored.
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
  AICF_DEVICE float Squares() {
    float squares = 0;
#pragma unroll
    for (int p = 0; p < kPiecesOfLane; ++p) {
      if (!Has(p)) continue;
      float(&x)[kPiece] = held_[p % kHeldPieces];
      a_.Load(m_, At(p), x);
#pragma unroll
      for (int j = 0; j < kPiece; ++j) squares = fmaf(x[j], x[j], squares);
    }
    return squares;
  }
  AICF_DEVICE void Store(float factor) {
    row_t* const to = NormalizedRows()[m_].v;
#pragma unroll
    for (int p = 0; p < kPiecesOfLane; ++p) {
      if (!Has(p)) continue;
      float(&x)[kPiece] = held_[p % kHeldPieces];
      float(&g)[kPiece] = gains_[p % kHeldPieces];
      if constexpr (!kHolds) {
        a_.Load(m_, At(p), x);
        gain_.Load(m_, At(p), g);
      }
#pragma unroll
      for (int j = 0; j < kPiece; j += kMoved) {
        Pack<row_t, kMoved> made;
#pragma unroll
        for (int i = 0; i < kMoved; ++i) {
          made.v[i] = Narrow<row_t>::Of(x[j + i] * factor * g[j + i]);
        }
        *reinterpret_cast<Pack<row_t, kMoved>*>(to + At(p) + j) = made;
      }
    }
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
  float held_[kHeldPieces][kPiece], gains_[kHeldPieces][kPiece];
};

/// Normalises all rows of the batch, after which every thread of the block may read them. All
/// threads of the block have to call it. `wait` is called once: after the gain of the thread's
/// first row has been requested, where it is held, and before A is read.
template <class Wait>
AICF_DEVICE void NormalizeRows(const RowSource<In0>& a, const RowSource<GainView>& gain,
                               Wait wait) {
  const int first = static_cast<int>(threadIdx.y) / kWarpsOfRow;
#pragma unroll
  for (int turn = 0; turn < (kM + kRowsAtOnce - 1) / kRowsAtOnce; ++turn) {
    const int m = first + turn * kRowsAtOnce;
    const bool is_row = m < kM;  // threads without a row come to the barriers, too
    RowMaker row(a, gain, is_row ? m : 0);
    row.HoldGain();
    if (turn == 0) wait();
    const float mean = SumOfRow(row.Squares()) / static_cast<float>(kLength);
    if (is_row) row.Store(1.0f / sqrtf(mean + static_cast<float>(attr_rms_epsilon)));
    __syncthreads();
  }
}

}  // namespace aicf
