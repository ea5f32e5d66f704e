// What a product of fragments on tensor cores (mma.sync) takes in the step's math mode: the type of
// its operands in shared memory, and the instruction.
#pragma once

#include "common/enums.cuh"

namespace aicf {

template <int kMode>
struct TileTypeOf {
  typedef f16 T;
};
template <>
struct TileTypeOf<kTf32> {
  typedef float T;
};
template <>
struct TileTypeOf<kBf16> {
  typedef bf16 T;
};
typedef TileTypeOf<kMath>::T tile_t;

/// Adds a fragment of 16 rows of A times one of 8 columns of B to `c`.
AICF_DEVICE void MultiplyFragments(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  if constexpr (kMath == kTf32)
    MmaTf32(c, a, b);
  else if constexpr (kMath == kBf16)
    MmaBF16(c, a, b);
  else
    MmaF16(c, a, b);
}

}  // namespace aicf
