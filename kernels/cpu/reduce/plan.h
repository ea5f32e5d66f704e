/// How one reduction is walked: which loops are kept and reduced, in what blocks, in how many
/// pieces. A pure function of the problem, so that the order of additions is too.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/cpu/common/nest.h"

namespace aicf::cpu {

/// Columns of a tile when the innermost loop is kept.
inline constexpr int64_t kReduceTile = 512;
/// Elements of one piece of a split reduction: enough to be worth a thread.
inline constexpr int64_t kReducePiece = 32768;

/// Partial results (f64) in the workspace: at most 64 pieces of at most one tile, and none when
/// there is not work for two pieces.
inline int64_t ReducePartials(const abi::Problem& problem) {
  if (abi::ElementsOf(problem.inputs[0]) < 2 * kReducePiece) return 0;
  return 64 * std::min(kReduceTile, abi::ElementsOf(problem.outputs[0]));
}

/// The innermost loop of input 0 is the column loop, unless it is a short reduced one. When the
/// column loop is reduced (`inner`) a task is one output, else one output tile of columns; its
/// reduced points are `blocks` blocks, split into `splits` pieces.
struct ReducePlan {
  /// target has the outputs' shape. REQUIRES: no extent of the kept axes is 0.
  ReducePlan(const abi::ArgBlock& args, const abi::TensorArg& target);

  Nest nest;  ///< operands: core inputs 1.., target, core input 0
  int core = 1;
  bool inner = false;
  bool direct = false;  ///< blocks are read in place: no prologue, f32, contiguous columns
  int col = -1, row = -1;
  int64_t cols = 1, rows = 1;
  int64_t block_cols = 1, block_rows = 1;
  int64_t col_blocks = 1, row_blocks = 1;
  int64_t tasks = 1;
  int64_t blocks = 1;
  int64_t splits = 1;
  int64_t count = 1;  ///< elements reduced into one output

  int InputOperand(int k) const { return k == 0 ? nest.operands - 1 : k - 1; }
  int TargetOperand() const { return core - 1; }
  /// Sets at[] along the kept loops, and the width of the task's tile.
  int64_t LocateTask(int64_t task, int64_t* at) const;
  /// Sets at[] along the reduced loops, and the block's size.
  void LocateBlock(int64_t block, int64_t* at, int64_t* block_rows, int64_t* block_cols) const;
  /// Element of the target at at[].
  int64_t TargetIndex(const int64_t* at) const;

 private:
  void ChooseLoops(const abi::ArgBlock& args);
  int LongestKept() const;
  void ChooseBlocks();
  void ChooseSplits(bool splittable);

  bool reduced_[kMaxRank] = {};
};

}  // namespace aicf::cpu
