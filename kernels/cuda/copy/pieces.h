/// How cuda.copy.pieces divides its grid: shared by the launch function and the source writer.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/abi/problem.h"
#include "kernels/cuda/common/space.h"

namespace aicf::cuda {

inline constexpr int kCopyThreads = 128;

/// One piece: the window of the output that it fills, walked in the output's memory order.
struct CopyPiece {
  size_t input = 0;  ///< operand number
  abi::View from;
  abi::View to;
  Space space;
  int vector = 1;
  int64_t count = 0;
  int64_t first_block = 0;
  int64_t blocks = 0;
};

/// Pieces with at least one element, their blocks numbered one after the other.
std::vector<CopyPiece> PiecesOf(const abi::Problem& problem);

}  // namespace aicf::cuda
