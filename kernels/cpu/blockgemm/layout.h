/// The packed layout of rows of blocks, "cpu.blockgemm.columns16", which all instruction sets, math
/// modes and numbers of rows of A share. Host code only.
///
/// Sixteen columns of the product (rows of B) are a panel. A block is cut into its f16 scales,
/// which stand at its beginning or its end, and words of 32 bits. A panel has
///   halves [block][scale of the block][column]  u16, filled up to 64 bytes
///   words  [block][word of the block][column]   u32
/// so that a vector register holds the same word of sixteen columns: with codes of eight bits four
/// codes per column, to be multiplied with the same four elements of A in every column; with codes
/// of four bits eight, and so on. The bits are those of the blocks, in another order. Columns
/// beyond the last are zero.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/abi/problem.h"

namespace aicf::cpu {

inline constexpr std::string_view kBlockLayout = "cpu.blockgemm.columns16";
inline constexpr int kBlockColumns = 16;
/// Elements of a group. Every block is a whole number of groups, and the elements of a group of A
/// share a scale in math mode int8.
inline constexpr int kBlockGroup = 32;

/// How a block's bytes are cut into halves and words. For formats without scales (f16, bf16), 32
/// elements count as a block, which consists of halves alone.
struct BlockFields {
  int elements = 0, bytes = 0;  ///< of the block
  int halves = 0;
  bool halves_first = true;
  int words = 0;
};
/// REQUIRES: format is not kF32.
BlockFields BlockFieldsOf(BlockFormat format);

/// Whether elements share scales: f16 and bf16 do not.
bool HasBlockScales(BlockFormat format);
/// Whether rows of A are rounded: in math mode int8, for codes that are integers.
bool RoundsBlockRows(const abi::Problem& p);

struct BlockShape {
  int64_t rows = 0, columns = 0, depth = 0;  ///< rows: of A, over all its axes but the last
  int64_t panels = 0, panel_bytes = 0;
  int64_t halves_bytes = 0;  ///< of a panel, in front of its words
};
/// REQUIRES: as BlockFieldsOf, and whole blocks.
BlockShape BlockShapeOf(const abi::Problem& p);

/// Whether a view consists of contiguous rows of f32 along its last axis that are all the same
/// distance apart. The kernels read such an A, and write such an output, in place.
bool IsEvenRows(const abi::View& v);
/// The distance between neighbouring rows, in elements; 0 where there is one row.
int64_t RowStrideOf(const abi::View& v);

/// The parts of the workspace, as offsets in bytes: a dense f32 copy of A where A is not read in
/// place, then, where rows of A are rounded, their codes, their scales and BlockRows::starts.
struct BlockWorkspace {
  uint64_t copy = 0, codes = 0, scales = 0, starts = 0, bytes = 0;
};
BlockWorkspace BlockWorkspaceOf(const abi::Problem& p);

/// The properties of a format's codes on which the rounding of A's rows depends.
struct BlockRounding {
  int run = kBlockGroup;  ///< elements that share a scale
  int offset = 0;         ///< a value is scale * (code - offset), unless it has a minimum
  bool minimum = false;   ///< a value is scale * code + minimum
};

constexpr BlockRounding BlockRoundingOf(BlockFormat format) {
  switch (format) {
    case BlockFormat::kQ4_0:
      return {.offset = 8};
    case BlockFormat::kQ5_0:
      return {.offset = 16};
    case BlockFormat::kQ8_0:
      return {.offset = 128};
    case BlockFormat::kQ3_K:
      return {.run = 16, .offset = 4};
    case BlockFormat::kQ6_K:
      return {.run = 16, .offset = 32};
    case BlockFormat::kQ2_K:
      return {.run = 16, .minimum = true};
    default:
      return {.minimum = true};
  }
}

void PackBlocks(const abi::Problem& p, const void* buffer, void* packed);
void UnpackBlocks(const abi::Problem& p, const void* packed, void* buffer);

}  // namespace aicf::cpu
