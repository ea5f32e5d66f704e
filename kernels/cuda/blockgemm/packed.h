/// The packed form in which the blockgemm kernels read B. It has every bit of B's blocks once,
/// placed so that a warp that multiplies on tensor cores finds it by aligned loads of 16 bytes.
/// blockgemm/packed.cuh is the device's counterpart.
///
/// B is cut into panels of 16 rows, and a panel into chunks along k (BlockChunk::depth elements,
/// which are whole blocks), stored one after the other. The bits of rows and elements beyond the
/// end of B are zero. A chunk consists of
///   codes   the integers of its elements, as unsigned numbers, their bits in planes of 4, 2, 1 (or
///           8, 16, 32) bits, the lowest bits first
///   scales  row after row what the blocks say about their groups: 16 bytes for each row, then 4
///           or 2
///
/// Lane 4 * g + t of a warp has the rows g and g + 8. It has eight of every 32 elements along k:
/// where every 16 share a scale, elements 4 * t to 4 * t + 3 of each 16, otherwise elements 8 * t
/// to 8 * t + 7. Two neighbouring elements are a pair. The pairs of a lane are numbered
/// p = 0, 1, ...: for every 32 elements, first the four pairs of row g, then the four of row g + 8.
/// In a plane of w <= 16 bits, pair p is in word p / (16 / w) of the lane; with
/// s = w * (p % (16 / w)), its first element begins at bit s and its second at bit 16 + s. In a
/// plane of 32 bits, words 2 * p and 2 * p + 1 are the two elements. Finally, the words of a plane
/// of 4 bits are rotated left by 7 minus the number of bits of a code. Words 4 * v to 4 * v + 3 of
/// all lanes are stored together, lane by lane, as vector v.
///
/// The scales of a row, by format:
///   Q4_0, Q5_0, Q8_0   d of each block
///   Q4_1, Q5_1         d and m of each block
///   Q4_K, Q5_K         d, dmin, then for every two groups their two scales and their two minimums,
///                      6 bits each
///   Q2_K               the bytes of the 16 groups; after those of all rows d and dmin of each
///   Q3_K, Q6_K         the scales of the 16 groups, a byte each as they are stored; after those of
///                      all rows d of each
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/block_format.h"
#include "base/checked.h"
#include "kernels/abi/kernel.h"

namespace aicf::cuda {

/// What is fixed about the chunks of a format.
struct BlockChunk {
  static constexpr int kRows = 16;
  int depth = 0;  ///< elements along k
  int codes_bytes = 0;
  int scales_bytes = 0;
  int groups = 0;  ///< groups of a row, each with its scale; 0: elements have none

  int bytes() const { return codes_bytes + scales_bytes; }
};
BlockChunk ChunkOf(BlockFormat format);

/// `value` rounded up to a multiple of `unit`.
inline int64_t RoundUp(int64_t value, int64_t unit) { return CeilDiv(value, unit) * unit; }

/// Number of chunks of a panel, and number of panels of B.
int64_t ChunksOf(const abi::Problem& problem);
int64_t PanelsOf(const abi::Problem& problem);

/// Empty, or why tiles of `tile_k` elements along k cannot be read from the packed form.
std::string RefusePackedBlocks(const abi::Problem& problem, int64_t tile_k);

/// nullopt where there is nothing to pack.
std::optional<abi::PackedLayout> PackedBlocksLayout(const abi::Problem& problem);
void PackBlocks(const abi::Problem& problem, const void* buffer, void* packed);
void UnpackBlocks(const abi::Problem& problem, const void* packed, void* buffer);

}  // namespace aicf::cuda
