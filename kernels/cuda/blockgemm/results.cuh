// How the warps of a block, and the blocks that share out k, add up their sums of a panel and store
// the results: what cuda.blockgemm.gemv and cuda.blockgemm.decode have in common. REQUIRES that the
// kernel has defined the constants kAlongK, kParts, kResultPanels (panels of results that a block
// has at once), kCells (sums of a row of a panel) and its type Warp, which has
//   lane, number, part     of the thread: its lane, its warp in the block, and the block's number
//                          among those that share out k
//   PanelOf(turn, p)       number of the block's panel p
//   Cells(turn, warp)      16 * kCells sums that a warp of the block has stored
#pragma once

namespace aicf {

/// Whether no warp needs the sums of another warp.
constexpr bool kAlone = kAlongK == 1 && kParts == 1 && kProductHalves == 1;

/// Synchronises the threads that store sums with those that read them.
AICF_DEVICE void AfterStoring() {
  if constexpr (kAlone)
    __syncwarp();
  else if constexpr (kParts == 1)
    __syncthreads();
  else
    ClusterSharedBarrier();
}

struct Cell {
  index_t turn, m, n;
  int first_warp, row;  ///< the first warp that has its sums, and its row in the panel
  bool valid;
};

/// The total of sum number `column` of a cell's row over all warps and blocks that share out k,
/// added in their order. `half` is the half of the product.
AICF_DEVICE float TotalOf(const Warp& warp, index_t turn, const Cell& cell, int half, int column) {
  float total = 0.0f;
#pragma unroll
  for (int part = 0; part < kParts; ++part) {
#pragma unroll
    for (int w = 0; w < kAlongK; ++w) {
      const float* from =
          warp.Cells(turn, cell.first_warp + half * kAlongK + w) + cell.row * kCells + column;
      if constexpr (kParts > 1)
        total = total + LoadCluster(from, part);
      else
        total = total + *from;
    }
  }
  return total;
}

/// The results of kTurnsOfBatch turns that one thread finishes: those with the numbers First(),
/// First() + kStride, ... in the panels of its warp (kAlone) or in those of the whole cluster, turn
/// by turn. Result::Of(warp, turn, cell, half) computes one result from its totals.
template <class Result, int kTurnsOfBatch = 1>
struct Finish {
  static constexpr int kOfWarps = kAlone ? 1 : kResultPanels;
  static constexpr int kOfTurn = 16 * kOfWarps * kM, kCount = kTurnsOfBatch * kOfTurn;
  static constexpr int kStride = kAlone ? 32 : kParts * kBlockX;
  const Warp& warp;

  AICF_DEVICE int First() const {
    return kAlone ? warp.lane : warp.part * kBlockX + static_cast<int>(threadIdx.x);
  }
  /// Result `number` of the turns from `first_turn` on. There are no panels after the last turn's.
  AICF_DEVICE Cell At(index_t first_turn, int number) const {
    const index_t turn = first_turn + number / kOfTurn;
    const int e = number % kOfTurn, of_block = kAlone ? warp.number : e / 16 % kOfWarps;
    const index_t panel = warp.PanelOf(turn, of_block);
    const index_t n = panel * 16 + e % 16;
    return {turn,   e / (16 * kOfWarps),
            n,      of_block * kProductHalves * kAlongK,
            e % 16, number < kCount && panel < kPanels && n < kColumns};
  }

  typedef Epilogue::Operands<1> Held;
  AICF_DEVICE void Load(const Args& args, index_t turn, Held& held) const {
    const Cell cell = At(turn, First());
    if (!cell.valid) return;
    held.Load(args, kRowsInner ? cell.m : cell.n, kRowsInner ? cell.n : cell.m, 0);
  }
  /// `held` is what Load has loaded for the thread's first result.
  AICF_DEVICE void Store(const Args& args, index_t turn, const Held& held) const {
    for (int e = First(); e < kCount; e += kStride) {
      const Cell cell = At(turn, e);
      if (!cell.valid) continue;
      const index_t i0 = kRowsInner ? cell.m : cell.n, i1 = kRowsInner ? cell.n : cell.m;
      raw_t raw[kProductHalves];
#pragma unroll
      for (int half = 0; half < kProductHalves; ++half) {
        raw[half] = Result::Of(warp, cell.turn, cell, half);
      }
      if (e == First())
        Epilogue::Store<1>(args, raw, held, i0, i1, 0);
      else
        Epilogue::Store<1>(args, raw, i0, i1, 0);
    }
  }
};

}  // namespace aicf
