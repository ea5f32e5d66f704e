/// How a scatter step is cut into shares that do not meet: the launch functions and the source
/// writer must see the same numbers.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/abi/problem.h"

namespace aicf::cuda {

inline constexpr std::string_view kScatterLinesKey = "cuda.scatter.lines";
inline constexpr std::string_view kScatterOwnersKey = "cuda.scatter.owners";

/// A scatter as `lines` problems of `targets` targets and `updates` updates each; a target is a row
/// of `row` elements. kElements: a line runs along the axis, a row is one element. kPoints: one
/// line; rows are what the coordinates leave.
struct ScatterExtents {
  int64_t lines = 1, targets = 1, updates = 1, row = 1;

  explicit ScatterExtents(const abi::Problem& p);
};

/// Rows of at least a warp's width are walked by whole warps, in chunks.
inline constexpr int64_t kScatterChunk = 1024;
inline int64_t ScatterChunks(const ScatterExtents& e) {
  return e.row >= 32 ? (e.row + kScatterChunk - 1) / kScatterChunk : 1;
}

/// Parts that the targets of a line are dealt out to.
int64_t ScatterShares(std::string_view key, const abi::Problem& p, int sm_count);

}  // namespace aicf::cuda
