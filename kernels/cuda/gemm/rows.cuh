// The extents of a product of few rows, and the loads of rows of its operand A and of the gain that
// A is normalised with. The including source or its instance has defined kPiece, the elements of
// one vector of B.
#pragma once

#include "common/block.cuh"

namespace aicf {

constexpr int kAxisM = Out0::kRank - 2;
constexpr int kAxisN = Out0::kRank - 1;
constexpr int kM = static_cast<int>(Out0::extent(kAxisM));
constexpr index_t kN = Out0::extent(kAxisN);
constexpr index_t kLength = In0::extent(kAxisN);

/// Rows of one batch of an operand of A's shape.
template <class View>
struct RowSource {
  typedef typename View::S S;
  const S* base;

  AICF_DEVICE RowSource(const void* data, const Point& batch)
      : base(static_cast<const S*>(data) + View::kOffset) {
#pragma unroll
    for (int d = 0; d < kAxisM; ++d) base += batch.c[d] * View::stride(d);
  }
  AICF_DEVICE float At(int m, index_t k) const {
    return Widen(base[m * View::stride(kAxisM) + k * View::stride(kAxisN)]);
  }
  /// kPiece neighbours along k, in vectors where the row's run allows them.
  AICF_DEVICE void Load(int m, index_t k, float (&x)[kPiece]) const {
    constexpr int N = PieceOf<S>(kPiece, View::run(kAxisN));
#pragma unroll
    for (int j = 0; j < kPiece; j += N) {
      const S* from = base + m * View::stride(kAxisM) + (k + j) * View::stride(kAxisN);
      const Pack<S, N> pack = *reinterpret_cast<const Pack<S, N>*>(from);
#pragma unroll
      for (int i = 0; i < N; ++i) x[j + i] = Widen(pack.v[i]);
    }
  }
};

}  // namespace aicf
