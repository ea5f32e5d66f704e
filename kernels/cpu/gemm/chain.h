/// Applies an epilogue that is a chain (igemm.h) to a tile of accumulators, a few vectors at a time
/// in registers, and stores the tile in the output's layout.
#pragma once

#include "kernels/cpu/common/simd.h"
#include "kernels/cpu/gemm/igemm.h"

AICF_ISA_BEGIN

struct ChainCall {
  const TileEpilogue* epilogue;
  float* tile;                 ///< rows x (vectors * kLanes), overwritten
  int rows, vectors, columns;  ///< only `columns` <= vectors * kLanes of each row are stored
  const float (*column_values)[kMaxPanelColumns];  ///< per column operand
  const float* const* tensors;  ///< per epilogue input: element (0, 0) of the tile
  const float* start;           ///< TileEpilogue::from_integers: i32 per column, added to the sums
};

/// Runs the steps on the tile in place, or into `out` (f32, unit column stride) when it is not
/// null.
void RunChain(const ChainCall& call, float* out, int64_t out_stride);

/// Writes rows x columns of `tile` to a strided destination of f32, f16, bf16, i32, u8 or i8. For
/// i32 the bits of the values are stored as they are. For u8 and i8 values are truncated and
/// saturate at the ends of the range; NaN becomes 0.
void StoreTile(const float* tile, int64_t tile_stride, int rows, int columns, void* out,
               DType dtype, int64_t row_stride, int64_t col_stride);

AICF_ISA_END
