// out[.., m, n] = epilogue(sum_k A[.., m, k] * element k of row n of B): one tile of kTileM x
// kTileN per block. Rows are those of all leading axes together, since B is the same for all of
// them.
#pragma once

#include "blockgemm/operands.cuh"

namespace aicf {

AICF_DEVICE void Kernel(const Args& args) {
  constexpr index_t kTilesN = TilesIn(kColumns, kTileN);
  constexpr index_t kTilesM = TilesIn(kRows, kTileM);
  const index_t tile = TileOfBlock();
  if (tile >= kTilesN * kTilesM) return;
  const index_t column0 = tile / kTilesM * kTileN;
  const index_t row0 = tile % kTilesM * kTileM;
  TileSums sums;
  ComputeTile<LoadTileA, LoadTileB>(SourceA(args), SourceB(args), row0, column0, kLength, sums);
  StoreTile(args, sums, RowInPlace{}, row0, column0, kRows, kColumns, 0);
}

}  // namespace aicf
