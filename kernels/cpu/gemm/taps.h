/// Which taps of the window an outer index has, and what its rows read. For *.isa.cc files only.
#pragma once

#include "kernels/cpu/gemm/tile.h"

AICF_ISA_BEGIN

/// Part of a unit: panels, outer indices or rows.
struct Range {
  int64_t begin, end;
};

/// A tap without its position along the rows.
struct OuterTap {
  int64_t x;      ///< elements from Outer::x
  int64_t index;  ///< number of its first tap along the rows, in packed order
  bool inside;    ///< false: it reads nothing but padding, and x has no meaning
};

struct OuterTaps {
  int64_t count;
  bool all_inside;
  OuterTap taps[kMaxTaps];
};

/// Lists the taps that lie inside x along the two outer window axes. With Igemm::flip it lists
/// those outside too: padding is then read as 128 and adds to the sums, which the numbers that they
/// start from take into account.
void CollectTaps(const Igemm& g, const Outer& outer, OuterTaps* list);

/// First and last position of x that rows [q, q + count) read.
struct Reach {
  int64_t low, high;
};

AICF_INLINE Reach ReachOf(const WindowAxis& w, int64_t q, int count) {
  const int64_t last = w.first + (w.count - 1) * w.step;
  return {q * w.stride + Smaller(w.first, last),
          (q + count - 1) * w.stride + (w.first > last ? w.first : last)};
}

/// Calls f(q, count) for tiles of nearly equal height, at most `most`, that cover the rows: one
/// short tile at the end would cost as much as a full one.
template <class F>
AICF_INLINE void EachTile(Range rows, int64_t most, const F& f) {
  const int64_t count = rows.end - rows.begin, tiles = (count + most - 1) / most;
  if (tiles == 0) return;
  const int64_t height = count / tiles, taller = count % tiles;
  int64_t q = rows.begin;
  for (int64_t t = 0; t < tiles; ++t) {
    const int64_t tall = t < taller ? height + 1 : height;
    f(q, static_cast<int>(tall));
    q += tall;
  }
}

AICF_ISA_END
