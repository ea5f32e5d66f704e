/// The scratch memory of one row's draw.
#pragma once

#include <cstdint>

#include "kernels/cpu/categorical/loops.h"

namespace aicf::cpu {

/// A category that is a candidate while a row's draw is made.
struct Category {
  double mass;
  float logit;
  int32_t index;
};

/// Masses that are formed and added up as one block.
inline constexpr int64_t kMassBlock = 2048;
/// Most rows that are drawn at the same time, each with its own scratch memory.
inline constexpr int64_t kCategoricalPieces = 16;

inline constexpr int64_t StretchesOf(int64_t n) { return (n - 1) / kStretch + 1; }

/// Where the parts of the scratch memory begin, in bytes.
struct CategoricalScratch {
  uint64_t row = 0;     ///< floats: the row's logits, where they are not contiguous f32 in memory
  uint64_t maxima = 0;  ///< floats: the maxima of groups
  uint64_t some = 0;    ///< floats: a copy of the maxima, of which the n-th largest is found
  uint64_t sums = 0;    ///< doubles: the sums of blocks of masses
  uint64_t taken = 0;   ///< Category: the categories that are taken
  uint64_t bytes = 0;

  constexpr explicit CategoricalScratch(int64_t n) {
    const int64_t groups = StretchesOf(n) * kStretchGroups;
    row = Part(n, sizeof(float));
    maxima = Part(groups, sizeof(float));
    some = Part(groups, sizeof(float));
    sums = Part((n - 1) / kMassBlock + 1, sizeof(double));
    taken = Part(n, sizeof(Category));
  }

 private:
  constexpr uint64_t Part(int64_t count, uint64_t element) {
    const uint64_t begin = bytes;
    bytes += (static_cast<uint64_t>(count) * element + 63) / 64 * 64;
    return begin;
  }
};

}  // namespace aicf::cpu
