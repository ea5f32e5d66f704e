// Stores the moments of parts of a product's rows (GemmAttrs::part_columns). A part is part_columns
// neighbouring results of a row, as they are stored; its moments are their mean and the sum of the
// squares of their differences from it. The next product that reads these rows computes their
// moments from those of the parts (gemm/part_moments.cuh), so that nobody reads the rows for their
// moments alone.
//
// Neighbouring lanes have a line of results, one run each. The line is a part, unless the tensor
// cores' rows run along n and k is not divided (kJoins). Then it is only the quarter of a part that
// one warp has: the four warps of a consumer put their moments into its shared memory, and one
// thread for each line joins them.
#pragma once

#include "common/block.cuh"
#include "common/hopper_helpers.cuh"

namespace aicf {

struct ResultParts {
  static constexpr bool kStored = true;
  static constexpr int kColumns = static_cast<int>(attr_part_columns);
  static constexpr bool kJoins = kSwap && kSplit == 1;  ///< warps have 16 results of a line each
  static constexpr int kOwn = kJoins ? 16 : kColumns;   ///< results of the lanes of a line
  static constexpr int kLines = MinOf(kColumns, kSwap ? kTileM : kColumns);
  static constexpr int kFloats = kJoins ? 4 * kLines * 2 : 0;  ///< shared memory of a consumer
  static_assert(kColumns == 64, "a warpgroup has 64 neighbours");
  static_assert(!kJoins || kTileM <= 64 || kTileM % 64 == 0,
                "a part has the lines that are joined");

  /// Takes the lane's results x, which begin at column i0 of a line; `any` is false where the lane
  /// has none. Stores the moments of the line or, with kJoins, keeps them in `shared` for Join, as
  /// those of line `line` of the part. All lanes of the warp have to call it to exchange sums.
  template <int V>
  static AICF_DEVICE void Add(const Args& args, const float (&x)[V], bool any, index_t i0,
                              index_t i1, index_t i2, int line, float* shared) {
    constexpr int kLanes = kOwn / V;
    static_assert(kLanes * V == kOwn && kLanes <= 32 && 32 % kLanes == 0, "whole lines");
    const int lane = static_cast<int>(threadIdx.x) % 32;
    // Differences from one of the results are added up, because they keep the digits that the
    // deviation needs.
    const float one = __shfl_sync(0xffffffffu, x[0], lane / kLanes * kLanes);
    float sum = 0, squares = 0;
#pragma unroll
    for (int j = 0; j < V; ++j) {
      sum += x[j] - one;
      squares = fmaf(x[j] - one, x[j] - one, squares);
    }
#pragma unroll
    for (int other = 1; other < kLanes; other *= 2) {
      sum += ShuffleXor(sum, other);
      squares += ShuffleXor(squares, other);
    }
    if (!any || lane % kLanes != 0) return;
    const float apart = sum * (1.0f / kOwn);
    const PartOfLine m = {one + apart, fmaxf(fmaf(-apart, sum, squares), 0.0f)};
    if constexpr (kJoins)
      reinterpret_cast<PartOfLine*>(shared)[Warp() * kLines + line] = m;
    else
      Store(args, m, i0, i1, i2);
  }
  /// Joins and stores what the warps of consumer `consumer` have kept for the lines of a part.
  /// line_of(line) is the line's index in the output, below 0 where there is none; i0 is the part's
  /// first column.
  template <class LineOf>
  static AICF_DEVICE void Join(const Args& args, int consumer, index_t i0, const LineOf& line_of,
                               index_t i2, const float* shared) {
    if constexpr (kJoins) {
      NamedBarrierMeet(7 + consumer, 128 * kStoreHalves);
      const int line = static_cast<int>(threadIdx.x) % 128;
      const index_t i1 = line < kLines && StoreHalf() == 0 ? line_of(line) : -1;
      if (i1 >= 0)
        Store(args, Joined(reinterpret_cast<const PartOfLine*>(shared) + line), i0, i1, i2);
      NamedBarrierMeet(7 + consumer, 128 * kStoreHalves);  // the next part may overwrite it
    }
  }

 private:
  struct alignas(8) PartOfLine {
    float mean, squares;
  };
  static constexpr int kLast = Out0::kRank - 1;

  static AICF_DEVICE int Warp() { return static_cast<int>(threadIdx.x) / 32 % 4; }
  static AICF_DEVICE PartOfLine Joined(const PartOfLine* of_warps) {
    float mean = 0, squares = 0;
#pragma unroll
    for (int w = 0; w < 4; ++w) mean += of_warps[w * kLines].mean * 0.25f;
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      const float apart = of_warps[w * kLines].mean - mean;
      squares += fmaf(apart * kOwn, apart, of_warps[w * kLines].squares);
    }
    return {mean, squares};
  }
  static AICF_DEVICE void Store(const Args& args, const PartOfLine& m, index_t i0, index_t i1,
                                index_t i2) {
    const Point at = OutputPoint(i0, i1, i2);
    index_t offset = PartsView::kOffset;
    offset += static_cast<index_t>(at.c[kLast]) / kColumns * 2 * PartsView::stride(kLast);
#pragma unroll
    for (int d = 0; d < kLast; ++d) offset += static_cast<index_t>(at.c[d]) * PartsView::stride(d);
    float* to = static_cast<float*>(args.out[kOutputs - 1]) + offset;
    to[0] = m.mean;
    to[PartsView::stride(kLast)] = m.squares;
  }
};

}  // namespace aicf
