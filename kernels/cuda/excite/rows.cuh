// The two products of an excitation, row by row, and what is applied to their results. Included by
// cluster.cuh, after pixels.cuh.
#pragma once

namespace aicf {

/// Multiplies a matrix [rows, k] with k values; kRowLanes neighbouring threads share each row. The
/// weights that a thread multiplies are loaded ahead if its registers suffice. W is the view of the
/// operand.
template <class W, int kRows, int kLength, int kMostPiece, int kRowLanes>
struct RowsOfWeights {
  typedef typename W::S S;
  /// Elements per access: no more than it takes for one step of all lanes to cover a row.
  static AICF_DEVICE constexpr int Piece() {
    int piece = 1;
    while (2 * piece <= MinOf(W::run(1), kMostPiece) && kLength % (2 * piece) == 0 &&
           piece * kRowLanes < kLength) {
      piece *= 2;
    }
    return piece;
  }
  static constexpr int kPiece = Piece();
  static constexpr int kAtOnce = kBlockX / kRowLanes;  ///< rows
  static constexpr int kSweeps = CeilOf(kRows, kAtOnce);
  static constexpr int kSteps = CeilOf(kLength, kPiece* kRowLanes);
  typedef Pack<S, kPiece> Vector;
  /// Whether a thread keeps the values in registers. It multiplies the same values for all its
  /// rows.
  static constexpr bool kKnown = kSteps * kPiece <= 48;
  static constexpr bool kAhead =
      kKnown && kSweeps * kSteps * static_cast<int>(sizeof(Vector)) <= kWeightBytes;

  const S* from;     ///< address of row 0 at k = 0
  int rows, length;  ///< at most kRows and kLength
  Vector held[kAhead ? MaxOf(1, kSweeps* kSteps) : 1];

  static AICF_DEVICE int Row(int sweep) {
    return sweep * kAtOnce + static_cast<int>(threadIdx.x) / kRowLanes;
  }
  static AICF_DEVICE int K(int step) {
    return (step * kRowLanes + static_cast<int>(threadIdx.x) % kRowLanes) * kPiece;
  }
  AICF_DEVICE bool Has(int sweep, int step) const { return Row(sweep) < rows && K(step) < length; }
  AICF_DEVICE Vector At(int sweep, int step) const {
    return *reinterpret_cast<const Vector*>(from + Row(sweep) * W::stride(0) +
                                            K(step) * W::stride(1));
  }

  AICF_DEVICE RowsOfWeights(const void* base, index_t row0, index_t k0, int r, int l)
      : rows(r), length(l) {
    from = static_cast<const S*>(base) + W::kOffset + row0 * W::stride(0) + k0 * W::stride(1);
    if constexpr (kAhead) {
#pragma unroll
      for (int i = 0; i < kSweeps * kSteps; ++i) {
        if (Has(i / kSteps, i % kSteps)) held[i] = At(i / kSteps, i % kSteps);
      }
    }
  }

  static AICF_DEVICE float Added(const Vector& w, const float* values, float sum) {
#pragma unroll
    for (int j = 0; j < kPiece; ++j) sum = fmaf(Widen(w.v[j]), values[j], sum);
    return sum;
  }

  /// Calls f(row, sum, sweep) in all threads that share a row, and also in threads whose row does
  /// not exist.
  template <class F>
  AICF_DEVICE void Multiply(const float* values, F&& f) const {
    float known[kKnown ? MaxOf(1, kSteps * kPiece) : 1];
    if constexpr (kKnown) {
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        if (K(step) < length) LoadFloats<kPiece>(values + K(step), known + step * kPiece);
      }
    }
#pragma unroll(kAhead ? MaxOf(1, kSweeps) : 1)
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      float sum = 0;
#pragma unroll
      for (int step = 0; step < MinOf(kSteps, kKnown ? kSteps : 0); ++step) {
        if (!Has(sweep, step)) continue;
        const Vector w = kAhead ? held[kAhead ? sweep * kSteps + step : 0] : At(sweep, step);
        sum = Added(w, known + (kKnown ? step * kPiece : 0), sum);
      }
#pragma unroll 4
      for (int step = 0; step < (kKnown ? 0 : kSteps); ++step) {
        if (Has(sweep, step)) sum = Added(At(sweep, step), values + K(step), sum);
      }
      f(Row(sweep), SumOfGroup<kRowLanes>(sum), sweep);
    }
  }
};

/// What the expression of a row reads beside its product. The thread that applies the expression
/// loads it, and does so ahead where it has few rows (kAhead).
template <class Middle, int kSweeps>
struct MiddleOperands {
  static constexpr bool kAhead = kSweeps <= 2;
  typename Middle::Operands held[kAhead ? MaxOf(1, kSweeps) : 1];

  /// Loads ahead. row(sweep) is the thread's row in a sweep, counted from `first`; there are `rows`
  /// of them.
  template <class Row>
  AICF_DEVICE void Load(const Args& args, const Share& at, index_t first, int rows, Row&& row) {
    if constexpr (kAhead) {
#pragma unroll
      for (int s = 0; s < kSweeps; ++s) {
        if (row(s) < rows) held[s] = Middle::Load(args, at.image, first + row(s));
      }
    }
  }
  AICF_DEVICE float Of(const Args& args, const Share& at, float product, index_t i,
                       int sweep) const {
    if constexpr (kAhead)
      return Middle::Of(held[sweep], product, at.image, i);
    else
      return Middle::Of(Middle::Load(args, at.image, i), product, at.image, i);
  }
};

}  // namespace aicf
