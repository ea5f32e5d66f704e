// The operands of a product with blocks as its tiles read them: rows of A, addressed by the number
// of the output's row, and columns of B, decoded on their way into shared memory. Include it after
// tile_ffma.cuh or tile_mma.cuh.
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
    return {base + RowOf<In0>(valid ? row : 0), valid};
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

/// B's bytes, either packed or where the step's view says.
struct SourceB {
  const u8* base;

  AICF_DEVICE explicit SourceB(const Args& args)
      : base(static_cast<const u8*>(args.in[1]) + (kPackedB != 0 ? 0 : In1::kOffset)) {}
};

template <bool kIsPacked>
struct LoadTileOf;

}  // namespace aicf

#include "blockgemm/packed_tile.cuh"
#include "blockgemm/raw_tile.cuh"

namespace aicf {
typedef LoadTileOf<kPackedB != 0> LoadTileB;
}
