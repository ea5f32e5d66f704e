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

/// Pieces with at least one element, whose blocks are numbered one after the other. Of the
/// parameters, "threads" is the size of a block, "vector" the most elements per access, and
/// "least_threads" the number of threads that a piece should at least keep busy: accesses are only
/// as wide as that permits. Copy kernels without these parameters walk the pieces in another way
/// and use only their windows.
std::vector<CopyPiece> PiecesOf(const abi::Problem& problem, const abi::Parameters& parameters);

}  // namespace aicf::cuda
