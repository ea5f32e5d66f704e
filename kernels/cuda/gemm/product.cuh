// out[b, m, n] = epilogue(sum_k A[b, m, k] * B[b, k, n]): one tile of kTileM x kTileN per block. In
// a product of two halves (kProductHalves) a tile has kTileN / 2 columns of either half, so that a
// block has both sums of its results. To be included after tile_ffma.cuh or tile_mma.cuh, and after
// the definition of OperandB, the view of B.
#pragma once

#include "common/tile.cuh"

namespace aicf {

constexpr int kRankC = Out0::kRank;
constexpr int kAxisM = kRankC - 2;
constexpr int kAxisN = kRankC - 1;
constexpr index_t kM = Out0::extent(kAxisM);
constexpr index_t kN = Out0::extent(kAxisN);
constexpr index_t kLength = In0::extent(kAxisN);

/// One operand of one batch. kAxisFixed is its m or n axis, kAxisK the reduced one.
template <class View, int kAxisFixed, int kAxisK>
struct MatrixSource {
  typedef typename View::S S;
  struct Static {
    const S* line;
    bool valid;
  };
  struct Dynamic {
    index_t offset;
    bool valid;
  };
  const S* base;

  AICF_DEVICE MatrixSource(const void* data, const Point& batch) {
    base = static_cast<const S*>(data) + View::kOffset;
#pragma unroll
    for (int d = 0; d < kAxisM; ++d) base += batch.c[d] * View::stride(d);
  }
  AICF_DEVICE Static MakeStatic(index_t i) const {
    return {base + i * View::stride(kAxisFixed), i < View::extent(kAxisFixed)};
  }
  AICF_DEVICE Dynamic MakeDynamic(index_t k) const {
    return {k * View::stride(kAxisK), k < View::extent(kAxisK)};
  }
  AICF_DEVICE const S* At(const Static& fixed, const Dynamic& moving, bool* valid) const {
    *valid = fixed.valid && moving.valid;
    return fixed.line + moving.offset;
  }
};

/// B with its columns counted in the order in which tiles have them. With two halves, that is
/// kTileN / 2 columns of the first half, the same ones of the second, then the next of the first.
struct SourceB : MatrixSource<OperandB, kAxisN, kAxisM> {
  typedef MatrixSource<OperandB, kAxisN, kAxisM> Base;
  using Base::Base;

  AICF_DEVICE Static MakeStatic(index_t i) const {
    if constexpr (kProductHalves == 1) {
      return Base::MakeStatic(i);
    } else {
      const int within = static_cast<int>(i % kTileN);
      const index_t column = i / kTileN * kResultColumns + within % kResultColumns;
      const Static first = Base::MakeStatic(column + within / kResultColumns * kN);
      return {first.line, column < kN};
    }
  }
};

/// Elements per access along axis d. They divide the axis, so that a piece is inside as a whole or
/// not at all.
template <class View>
AICF_DEVICE constexpr int PieceAlong(int d) {
  int v = PieceOf<typename View::S>(16, View::run(d));
  while (v > 1 && (View::extent(d) % v != 0)) v /= 2;
  return v;
}
/// The same along the columns of B, where the second half has to begin at a piece as well.
AICF_DEVICE constexpr int PieceOfColumns(int most) {
  int v = MinOf(PieceAlong<OperandB>(kAxisN), most);
  while (kProductHalves > 1 && v > 1 && (kN % v != 0 || kResultColumns % v != 0)) v /= 2;
  return v;
}
template <class View>
AICF_DEVICE constexpr bool AlongLast() {
  const index_t last = View::stride(kAxisN), other = View::stride(kAxisM);
  const index_t a = last < 0 ? -last : last, b = other < 0 ? -other : other;
  return View::extent(kAxisM) == 1 || (View::extent(kAxisN) > 1 && a <= b);
}
/// Elements per access where memory is contiguous across the tile's lines: one, which is copied
/// asynchronously, if elements have 4 bytes or more and are not converted; otherwise up to 4.
template <class View>
AICF_DEVICE constexpr int PieceAcross(int d) {
  return kSame<tile_t, typename View::S> && sizeof(tile_t) >= 4 ? 1 : MinOf(PieceAlong<View>(d), 4);
}
constexpr bool kAlongA = AlongLast<In0>();
constexpr bool kAlongB = AlongLast<OperandB>();
typedef MatrixSource<In0, kAxisM, kAxisN> SourceA;
typedef TileLoader<SourceA, tile_t, kBlockX, kTileM, kTileK, kPitchA, true, kAlongA,
                   kAlongA ? MinOf(PieceAlong<In0>(kAxisN), kTileK) : PieceAcross<In0>(kAxisM)>
    LoadTileA;
typedef TileLoader<SourceB, tile_t, kBlockX, kTileK, kTileN, kPitchB, false, kAlongB,
                   kAlongB ? PieceOfColumns(kTileN) : PieceAcross<OperandB>(kAxisM)>
    LoadTileB;

AICF_DEVICE void Kernel(const Args& args) {
  constexpr index_t kTilesN = TilesIn(kN, kResultColumns);
  constexpr index_t kTilesM = TilesIn(kM, kTileM);
  const index_t tile = TileOfBlock();
  if (tile >= kTilesN * kTilesM * kOutputCount2) return;
  const index_t column0 = tile % kTilesN * kTileN;  // of B as the tiles count its columns
  const index_t row0 = tile / kTilesN % kTilesM * kTileM;
  const index_t batch = tile / (kTilesN * kTilesM);
  const Point point = OutputPoint(0, 0, batch);
  TileSums sums;
  ComputeTile<LoadTileA, LoadTileB>(SourceA(args.in[0], point), SourceB(args.in[1], point), row0,
                                    column0, kLength, sums);
  StoreTile(args, sums, RowInPlace{}, row0, column0 / kProductHalves, kM, kN, batch);
}

}  // namespace aicf
