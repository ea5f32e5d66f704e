/// The groups of a normalisation: which elements are normalised together, walked in blocks.
#pragma once

#include <cstdint>

#include "kernels/cpu/common/nest.h"

namespace aicf::cpu {

/// Most values of a group that a thread stages in its own buffer instead of the workspace.
inline constexpr int64_t kStagedGroup = 16 * 1024;

/// Most columns of a tile that is walked in rows (GroupPlan::in_lines).
inline constexpr int64_t kLineColumns = 64;

/// True when a group is a run of the output that can be normalised where it will stay: no epilogue,
/// f32, and the normalised axes contiguous in the output.
bool GroupInOutput(const abi::Problem& problem);

/// Elements normalised together.
int64_t GroupElements(const abi::Problem& problem);

/// Loops over the domain: those that count groups, and those inside a group, which is walked in
/// blocks of rows and columns.
struct GroupPlan {
  explicit GroupPlan(const abi::ArgBlock& args);

  Nest nest;  ///< operands: inputs, outputs 1.., a marker that tells groups apart, output 0
  int inputs = 0, outputs = 0;
  int64_t groups = 1;
  int64_t elements = 1;  ///< of one group
  int col = -1, row = -1;
  int64_t cols = 1, rows = 1;
  int64_t block_cols = 1, block_rows = 1;
  int64_t col_blocks = 1, row_blocks = 1;
  int64_t blocks = 1;
  int across = -1;  ///< loop whose groups are normalised side by side; -1: one group at a time
  /// Whether the groups along `across` alternate in memory: in every operand, a row holds a run of
  /// `cols` elements of each group, one after the other. A tile is then walked in whole rows.
  bool in_lines = false;
  int64_t tile = 1;   ///< groups side by side
  int64_t tiles = 1;  ///< tiles along `across`

  int OutputOperand(int r) const { return r == 0 ? nest.operands - 1 : inputs + r - 1; }
  void LocateGroup(int64_t group, int64_t* at) const;
  /// Sets at[] to the first group of tile number `index` (there are groups / extent(across) *
  /// tiles) and returns the number of its groups.
  int64_t LocateTile(int64_t index, int64_t* at) const;
  void LocateBlock(int64_t block, int64_t* at, int64_t* in_rows, int64_t* in_cols) const;
  int64_t IndexOf(int operand, const int64_t* at) const;
  int64_t StrideOf(int operand, int loop) const {
    return loop < 0 ? 0 : nest.stride[operand][loop];
  }

 private:
  void ChooseAcross();
  void ChooseLines(const abi::Problem& problem);
  bool FollowsInLine(int loop) const;

  bool grouped_[kMaxRank] = {};  ///< loops inside a group
};

}  // namespace aicf::cpu
