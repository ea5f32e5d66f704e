/// A loop nest over a domain and the strided operands that it walks. The loops follow the order of
/// the output's memory; axes of extent 1 are dropped, and neighbouring loops are merged where the
/// strides of every operand allow it.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/abi/kernel.h"

namespace aicf::cpu {

inline constexpr int kMaxNestOperands = 2 * abi::kMaxExprInputs + abi::kMaxExprResults;

struct Nest {
  int rank = 0;  ///< loops, outermost first; 0: a single point
  int operands = 0;
  int64_t extent[kMaxRank] = {};
  int axis[kMaxRank] = {};  ///< domain axis of a loop; for a merged loop its outermost axis
  int64_t stride[kMaxNestOperands][kMaxRank] = {};  ///< elements, per operand and loop

  int64_t Points() const;
};

/// The last operand decides the order of the loops: its smallest stride is innermost.
/// merge = false keeps one loop per axis, for expressions that ask for coordinates.
Nest MakeNest(const Dims& domain, std::span<const abi::TensorArg* const> operands, bool merge);

/// The nest's inner two loops in blocks of at most kBlockElements, numbered along all other loops.
struct BlockGrid {
  explicit BlockGrid(const Nest& nest);

  int row_loop = -1;  ///< loop of the rows; -1 when there is none
  int col_loop = -1;
  int64_t rows = 1, cols = 1;              ///< extents of the two loops
  int64_t block_rows = 1, block_cols = 1;  ///< of a full block
  int64_t row_blocks = 1, col_blocks = 1;
  int64_t outer = 1;  ///< points of the other loops

  int64_t Blocks() const { return outer * row_blocks * col_blocks; }
};

/// One block: its first point along every loop, and its size.
struct BlockPosition {
  int64_t at[kMaxRank] = {};
  int64_t rows = 1, cols = 1;
};
BlockPosition PositionOf(const Nest& nest, const BlockGrid& grid, int64_t block);

/// True when the expression reads coordinates of the domain.
bool UsesIndex(const abi::Expr& expr);

}  // namespace aicf::cpu
