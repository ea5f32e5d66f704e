// The operands of a product with blocks as its tiles read them: rows of A by the number of the
// output's row, and columns of B decoded on their way into shared memory. Follows tile_ffma.cuh or
// tile_mma.cuh.
#pragma once

#include "blockgemm/shape.cuh"
#include "common/blocks.cuh"
#include "common/tile.cuh"

namespace aicf {

struct SourceA {
  typedef In0::S S;
  struct Static {
    const S* line;
    bool valid;
  };
  struct Dynamic {
    index_t offset;
    bool valid;
  };
  const S* base;

  AICF_DEVICE explicit SourceA(const Args& args) : base(static_cast<const S*>(args.in[0])) {}
  AICF_DEVICE Static MakeStatic(index_t row) const {
    const bool valid = row < kRows;
    return {base + RowOfA(valid ? row : 0), valid};
  }
  AICF_DEVICE Dynamic MakeDynamic(index_t k) const {
    return {k * In0::stride(kAxisK), k < kLength};
  }
  AICF_DEVICE const S* At(const Static& fixed, const Dynamic& moving, bool* valid) const {
    *valid = fixed.valid && moving.valid;
    return fixed.line + moving.offset;
  }
};

/// Elements of A per access along k: whole pieces only, so that a piece is valid as a whole.
AICF_DEVICE constexpr int PieceOfA() {
  int piece = MinOf(PieceOf<In0::S>(16, In0::run(kAxisK)), kTileK);
  while (piece > 1 && (kLength % piece != 0 || kTileK % piece != 0)) piece /= 2;
  return piece;
}
typedef TileLoader<SourceA, tile_t, kBlockX, kTileM, kTileK, kPitchA, true, true, PieceOfA()>
    LoadTileA;

struct SourceB {
  const u8* base;

  AICF_DEVICE explicit SourceB(const Args& args)
      : base(static_cast<const u8*>(args.in[1]) + In1::kOffset) {}
};

/// Decodes runs along k. Neighbouring threads have neighbouring columns, so that they store into
/// different banks.
struct LoadTileB {
  static constexpr int kRun = kTileK % 8 == 0 ? 8 : 4;
  static constexpr int kRuns = kTileK / kRun * kTileN;
  static constexpr int kCount = (kRuns + kBlockX - 1) / kBlockX;
  static_assert(kTileK % 4 == 0, "runs divide the tile");

  index_t column0;
  tile_t held[kCount][kRun];

  AICF_DEVICE void Init(const SourceB&, int, index_t column) { column0 = column; }

  static AICF_DEVICE int RunOfThread(int thread, int i) { return thread + i * kBlockX; }
  static AICF_DEVICE bool IsIdle(int run) { return kRuns % kBlockX != 0 && run >= kRuns; }

  AICF_DEVICE void Fetch(const SourceB& source, int thread, index_t k0, tile_t*) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const int run = RunOfThread(thread, i);
      if (IsIdle(run)) break;
      const index_t column = column0 + run % kTileN;
      const index_t k = k0 + run / kTileN * kRun;
      FetchRun(source.base + (column < kColumns ? column : 0) * In1::stride(0), k,
               column < kColumns && k < kLength, held[i]);
    }
  }
  static AICF_DEVICE void FetchRun(const u8* row, index_t k, bool valid, tile_t (&run)[kRun]) {
    if constexpr (BlockOf<kFormat>::kElements == 1) {
#pragma unroll
      for (int j = 0; j < kRun; ++j) {
        float one[1] = {0.0f};
        if (valid && k + j < kLength) DecodeRun<kFormat>(row, k + j, one);
        run[j] = ToTile<tile_t>(one[0]);
      }
    } else {
      float values[kRun] = {};
      if (valid) DecodeRun<kFormat>(row, k, values);
#pragma unroll
      for (int j = 0; j < kRun; ++j) run[j] = ToTile<tile_t>(values[j]);
    }
  }

  AICF_DEVICE void Commit(int thread, tile_t* tile) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const int run = RunOfThread(thread, i);
      if (IsIdle(run)) break;
      tile_t* to = tile + run / kTileN * kRun * kPitchB + run % kTileN;
#pragma unroll
      for (int j = 0; j < kRun; ++j) to[j * kPitchB] = held[i][j];
    }
  }
};

}  // namespace aicf
