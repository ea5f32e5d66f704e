#include "kernels/cpu/common/nest.h"

#include <algorithm>
#include <cstdlib>

#include "base/checked.h"
#include "kernels/cpu/expr/block_eval.h"

namespace aicf::cpu {
namespace {

/// Swaps two loops.
void SwapLoops(Nest& nest, int a, int b) {
  std::swap(nest.extent[a], nest.extent[b]);
  std::swap(nest.axis[a], nest.axis[b]);
  for (int k = 0; k < nest.operands; ++k) std::swap(nest.stride[k][a], nest.stride[k][b]);
}

void SortLoops(Nest& nest) {
  const int64_t* stride = nest.stride[nest.operands - 1];
  for (int i = 1; i < nest.rank; ++i) {
    for (int j = i; j > 0 && std::abs(stride[j - 1]) < std::abs(stride[j]); --j) {
      SwapLoops(nest, j - 1, j);
    }
  }
}

bool CanMerge(const Nest& nest, int outer, int inner) {
  for (int k = 0; k < nest.operands; ++k) {
    if (nest.stride[k][outer] != nest.stride[k][inner] * nest.extent[inner]) return false;
  }
  return true;
}

void MergeLoops(Nest& nest) {
  int last = 0;  // the loop that the next one may merge into
  for (int i = 1; i < nest.rank; ++i) {
    if (CanMerge(nest, last, i)) {
      nest.extent[last] *= nest.extent[i];
    } else {
      nest.extent[++last] = nest.extent[i];
      nest.axis[last] = nest.axis[i];
    }
    for (int k = 0; k < nest.operands; ++k) nest.stride[k][last] = nest.stride[k][i];
  }
  nest.rank = std::min(nest.rank, last + 1);
}

}  // namespace

int64_t Nest::Points() const {
  int64_t points = 1;
  for (int i = 0; i < rank; ++i) points *= extent[i];
  return points;
}

Nest MakeNest(const Dims& domain, std::span<const abi::TensorArg* const> operands, bool merge) {
  Nest nest;
  nest.operands = static_cast<int>(operands.size());
  for (int d = 0; d < domain.rank(); ++d) {
    if (domain[d] == 1) continue;
    nest.extent[nest.rank] = domain[d];
    nest.axis[nest.rank] = d;
    for (int k = 0; k < nest.operands; ++k) nest.stride[k][nest.rank] = operands[k]->strides[d];
    ++nest.rank;
  }
  SortLoops(nest);
  if (merge) MergeLoops(nest);
  return nest;
}

BlockGrid::BlockGrid(const Nest& nest) {
  if (nest.rank > 0) {
    col_loop = nest.rank - 1;
    cols = nest.extent[col_loop];
  }
  if (nest.rank > 1) {
    row_loop = nest.rank - 2;
    rows = nest.extent[row_loop];
  }
  for (int i = 0; i + 2 < nest.rank; ++i) outer *= nest.extent[i];
  // The columns are cut into pieces of nearly equal width rather than full blocks and a short rest.
  // A multiple of 16 keeps rows aligned.
  col_blocks = std::max<int64_t>(1, CeilDiv(cols, kBlockElements));
  block_cols = std::min(cols, CeilDiv(CeilDiv(cols, col_blocks), 16) * 16);
  col_blocks = std::max<int64_t>(1, block_cols == 0 ? 0 : CeilDiv(cols, block_cols));
  block_rows = std::clamp<int64_t>(kBlockElements / std::max<int64_t>(block_cols, 1), 1,
                                   std::max<int64_t>(rows, 1));
  row_blocks = std::max<int64_t>(1, CeilDiv(rows, block_rows));
}

BlockPosition PositionOf(const Nest& nest, const BlockGrid& grid, int64_t block) {
  BlockPosition p;
  const int64_t col = block % grid.col_blocks;
  block /= grid.col_blocks;
  const int64_t row = block % grid.row_blocks;
  block /= grid.row_blocks;
  for (int i = nest.rank - 3; i >= 0; --i) {
    p.at[i] = block % nest.extent[i];
    block /= nest.extent[i];
  }
  if (grid.row_loop >= 0) p.at[grid.row_loop] = row * grid.block_rows;
  if (grid.col_loop >= 0) p.at[grid.col_loop] = col * grid.block_cols;
  p.rows = std::min(grid.block_rows, grid.rows - row * grid.block_rows);
  p.cols = std::min(grid.block_cols, grid.cols - col * grid.block_cols);
  return p;
}

bool UsesIndex(const abi::Expr& expr) {
  return std::any_of(expr.nodes.begin(), expr.nodes.end(),
                     [](const abi::ExprNode& n) { return n.op == abi::ExprOp::kIndex; });
}

}  // namespace aicf::cpu
