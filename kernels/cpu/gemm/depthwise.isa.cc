#include "kernels/cpu/gemm/depthwise.h"

#include <utility>

AICF_ISA_BEGIN
namespace {

template <bool kWhole>
AICF_INLINE Vec LoadX(const TileCall& call, const float* x) {
  return kWhole ? Load(x) : LoadMasked(x, call.last_x);
}

template <int kRows>
AICF_INLINE void StartRows(const TileCall& call, Vec (&acc)[kRows][1]) {
  const Vec start = Load(call.start);
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) acc[r][0] = start;
}

template <int kRows, bool kGathered, bool kWhole>
void RunSpread(const TileCall& call) {
  Vec acc[kRows][1];
  StartRows(call, acc);
  for (int64_t tap = 0; tap < call.tap_count; ++tap) {
    TileRowsAt<kRows, 1, kGathered> rows(call, tap);
    const Vec weight = Load(call.taps[tap].b);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      acc[r][0] = Fma(weight, LoadX<kWhole>(call, rows.Address(r)), acc[r][0]);
    }
  }
  FinishAccumulators<kRows, 1>(call, call.out, acc);
}

using RowSequence = std::make_integer_sequence<int, kDepthwiseRows>;

template <bool kGathered, bool kWhole, int... kRow>
TileFn PickSpread(int rows, std::integer_sequence<int, kRow...>) {
  static constexpr TileFn kTiles[] = {&RunSpread<kRow + 1, kGathered, kWhole>...};
  return kTiles[rows - 1];
}

}  // namespace

TileFn FindDepthwiseTile(int rows, bool gathered, bool whole) {
  if (gathered) return PickSpread<true, false>(rows, RowSequence());
  return whole ? PickSpread<false, true>(rows, RowSequence())
               : PickSpread<false, false>(rows, RowSequence());
}

AICF_ISA_END
