/// How cuda.copy.pieces divides its grid: shared by the host functions and the source writer.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/abi/parameters.h"
#include "kernels/abi/problem.h"
#include "kernels/cuda/common/space.h"

namespace aicf::cuda {

/// One piece: the window of the output that it fills, walked in the output's memory order.
struct CopyPiece {
  size_t input = 0;  ///< operand number
  abi::View from;
  abi::View to;
  Space space;
  int64_t vector = 1;
  int64_t count = 0;
  int64_t first_block = 0;
  int64_t blocks = 0;
};

/// Pieces with at least one element, their blocks numbered one after the other. Of the parameters,
/// "threads" are those of a block, "vector" bounds the elements per access, and "least_threads" are
/// those that a piece keeps busy before its accesses widen. The copy kernels without these
/// parameters walk the pieces in another way: there only the windows count.
std::vector<CopyPiece> PiecesOf(const abi::Problem& problem, const abi::Parameters& parameters);

}  // namespace aicf::cuda
