/// cpu.attention.flash: tiles of query rows walk over blocks of keys with a running maximum and
/// sum, so that scores exist only in a tile's scratch memory, for one block of keys at a time.
///
/// A tile's rows share their keys: consecutive rows of one query head, or, where a head has few
/// rows, the query heads that read one key head at one row.
#pragma once

#include <algorithm>

#include "kernels/abi/attention.h"
#include "kernels/abi/kernel.h"

namespace aicf::cpu {

inline constexpr int64_t kFlashRows = 56;  ///< most rows of a tile
inline constexpr int64_t kFlashKeys = 64;  ///< keys of a block
/// Tiles of at most so many rows form their products row by row: packing the keys would cost more.
inline constexpr int64_t kFlashFewRows = 4;
/// A head with fewer rows shares its tile with the heads that read the same keys.
inline constexpr int64_t kFlashSharedRows = 8;

/// Columns padded to whole vectors of every instruction set.
inline int64_t FlashPadded(int64_t n) { return (n + 15) / 16 * 16; }

/// How a problem is cut into tiles. It depends on the problem alone.
struct FlashTiling {
  bool along_heads = false;  ///< rows of a tile are query heads
  int64_t tile_rows = 1;     ///< most rows of a tile
  int64_t tiles = 0;         ///< tiles per request and unit
  int64_t units = 0;         ///< along_heads: key heads x rows; else query heads
  int64_t items(const abi::AttentionShape& s) const { return s.batch * units * tiles; }
};

inline FlashTiling FlashTilingOf(const abi::AttentionShape& s) {
  FlashTiling t;
  t.along_heads = s.rows < kFlashSharedRows && s.group() > 1;
  const int64_t length = t.along_heads ? s.group() : s.rows;
  t.tiles = std::max<int64_t>(1, (length + kFlashRows - 1) / kFlashRows);
  t.tile_rows = std::max<int64_t>(1, (length + t.tiles - 1) / t.tiles);
  t.units = t.along_heads ? s.key_heads * s.rows : s.query_heads;
  return t;
}

/// Scratch memory of one running tile: where each part begins, in floats from its start. The size
/// of every part is a multiple of 16.
struct FlashScratch {
  int64_t query, keys, values, scores, product, sums, rows, zeros, total;
};
inline FlashScratch FlashScratchOf(const abi::AttentionShape& s) {
  const int64_t rows = FlashTilingOf(s).tile_rows, wide = FlashPadded(s.value_head);
  FlashScratch f{};
  int64_t next = 0;
  const auto part = [&next](int64_t floats) {
    const int64_t at = next;
    next += FlashPadded(floats);
    return at;
  };
  f.query = part(rows * FlashPadded(s.head));
  f.keys = part(s.head * kFlashKeys);
  f.values = part(kFlashKeys * wide);
  f.scores = part(rows * kFlashKeys);
  f.product = part(rows * wide);
  f.sums = part(rows * wide);
  f.rows = part(3 * kFlashRows);
  f.zeros = part(std::max(wide, FlashPadded(s.head)));
  f.total = next;
  return f;
}

/// What all tiles of a run share. It holds plain values, since tiles are compiled per instruction
/// set: such code must not call inline functions of this namespace beyond trivial ones, or the
/// linker could keep its copy of them for everyone (kernels/cpu/isa.h).
struct FlashRun {
  const abi::ArgBlock* args;
  abi::AttentionShape shape;
  FlashTiling tiling;
  FlashScratch parts;
  float scale;
  const abi::Expr* score;  ///< nullptr: the identity
  int score_operands;      ///< the last inputs
};

/// One tile: its rows, and the keys that each sees.
struct FlashPlace {
  int64_t batch, head, key_head, row;  ///< coordinates of the tile's first row
  int64_t rows;
  int axis;           ///< of q along which the rows lie: 1 or 2
  abi::KeyRange all;  ///< keys that any row sees; empty where begin >= end
  abi::KeyRange range[kFlashRows];
};
void PlaceFlashTile(const FlashRun& run, int64_t item, FlashPlace* place);

using FlashTileFn = void (*)(const FlashRun& run, int64_t item, float* scratch);
namespace baseline {
void RunFlashTile(const FlashRun& run, int64_t item, float* scratch);
}
namespace avx2 {
void RunFlashTile(const FlashRun& run, int64_t item, float* scratch);
}
namespace avx512 {
void RunFlashTile(const FlashRun& run, int64_t item, float* scratch);
}

/// Most tiles that can run at once, since each needs scratch memory of its own in the workspace. A
/// plan does not know how many threads the machine that runs it has, so the number is fixed;
/// threads beyond it stay idle.
inline constexpr int64_t kFlashSlots = 16;
inline int64_t FlashSlots(const abi::AttentionShape& s) {
  return std::clamp<int64_t>(FlashTilingOf(s).items(s), 1, kFlashSlots);
}

}  // namespace aicf::cpu
