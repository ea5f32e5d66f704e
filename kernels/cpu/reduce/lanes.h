/// The inner loops of the vector reductions, on f32 values.
#pragma once

#include <cstdint>

#include "kernels/abi/attrs.h"
#include "kernels/cpu/expr/block_eval.h"

namespace aicf::cpu {

/// Values of one block: row r, column c at data[r * row_stride + c].
struct ReduceBlock {
  const float* data = nullptr;
  int64_t row_stride = 0;
  int64_t rows = 0, cols = 0;
};

/// One instruction set's loops. `kind` is kSum, kMin or kMax (kMean is kSum here); a NaN wins
/// minimum and maximum. Sums are formed in a fixed order of lanes, the same for every instruction
/// set.
struct ReduceLoops {
  EvalBlockFn eval;
  /// All values of the block: the sum, or the extreme value. REQUIRES: rows * cols > 0 for
  /// extremes.
  double (*all)(abi::ReduceKind kind, const ReduceBlock& block);
  /// acc[c] = acc[c] op column c, row by row.
  void (*columns)(abi::ReduceKind kind, const ReduceBlock& block, float* acc);
  /// For each column: takes rows that are better than best[c] (`smaller`: less), or with `last`
  /// equal, and sets index[c] to first + row.
  void (*arg_columns)(bool smaller, bool last, const ReduceBlock& block, int64_t first, float* best,
                      int64_t* index);
};

namespace baseline {
extern const ReduceLoops kReduceLoops;
}
namespace avx2 {
extern const ReduceLoops kReduceLoops;
}
namespace avx512 {
extern const ReduceLoops kReduceLoops;
}

}  // namespace aicf::cpu
