/// Products of many rows of A: a stretch of one or two panels is decoded into memory that the
/// first-level cache holds, and every tile of rows streams through it. For *.isa.cc files only.
///
/// The template parameter Tiles holds the decoded stretch of a math mode (rounded_tiles.h,
/// exact_tiles.h):
///   Decoder     the decoder of the weights' format
///   kRows       most rows of a tile
///   kStretch    most elements of a stretch along k, whole superblocks
///   Keep(number, panel, panels, group)     stores a decoded group
///   Run(task, stretch, r, rows, out)       computes one tile: rows [r, r + rows) of the task
#pragma once

#include "kernels/cpu/blockgemm/few_rows.h"

AICF_ISA_BEGIN

/// Panels of a tile. With AVX2 it is one, whose sums already take all registers.
inline constexpr int kPanelsOfTile = kLanes == 16 ? kTilePanels : 1;

/// Elements [first, first + length) along k of `panels` panels.
struct Stretch {
  int64_t first, length;
  int panels;
};

template <class Tiles>
void DecodeStretch(const BlockTask& task, const Stretch& s, int64_t first_panel, Tiles& tiles) {
  using D = typename Tiles::Decoder;
  constexpr int64_t kBlock = kGroup * D::kGroups;
  for (int j = 0; j < s.panels; ++j) {
    const char* panel = task.packed + (task.first_panel + first_panel + j) * task.panel_bytes;
    for (int64_t k = 0; k < s.length; k += kBlock) {
      const PackedBlock b = BlockAt<D>(panel, task.halves_bytes, (s.first + k) / kBlock);
      AskAhead<D>(b);
#pragma GCC unroll 1
      for (int g = 0; g < D::kGroups; ++g) {
        tiles.Keep(k / kGroup + g, j, s.panels, DecodedGroup<D>(b, g));
      }
    }
  }
}

template <class Tiles>
void ManyRows(const BlockTask& task) {
  constexpr int64_t kBlock = kGroup * Tiles::Decoder::kGroups;
  const int64_t blocks = task.a.depth / kBlock, most = Tiles::kStretch / kBlock;
  const int64_t stretches = (blocks + most - 1) / most;
  Tiles tiles;
  for (int64_t panel = 0; panel < task.panels; panel += kPanelsOfTile) {
    const auto panels = static_cast<int>(Fewer(kPanelsOfTile, task.panels - panel));
    for (int64_t i = 0; i < stretches; ++i) {
      const int64_t first = blocks * i / stretches, end = blocks * (i + 1) / stretches;
      const Stretch s = {first * kBlock, (end - first) * kBlock, panels};
      DecodeStretch(task, s, panel, tiles);
      for (int64_t r = 0; r < task.rows; r += Tiles::kRows) {
        const int64_t rows = Fewer(Tiles::kRows, task.rows - r);
        tiles.Run(task, s, r, rows, task.out + r * task.out_stride + panel * kColumns);
      }
    }
  }
}

/// The function for a tile of `rows` rows, from a table of Make::Tile<1>(), Make::Tile<2>() and so
/// on, one entry for each number of the sequence.
template <class Make, int... kRow>
auto PickRows(int64_t rows, std::integer_sequence<int, kRow...>) {
  static constexpr decltype(Make::template Tile<1>()) kTiles[] = {
      Make::template Tile<kRow + 1>()...};
  return kTiles[rows - 1];
}

AICF_ISA_END
