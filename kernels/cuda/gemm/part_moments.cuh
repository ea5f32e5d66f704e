// The moments of A's rows (GemmAttrs::moments_epsilon), which a Hopper product computes from the
// moments of the rows' parts (GemmAttrs::part_terms). Two neighbouring threads share a row, and
// each takes every other part of it. With kHoldsTile they compute the moments while the tile's
// products run. Otherwise a consumer has to release stages during the products. With kStreams it
// computes the moments between two steps, when all stages are being filled anew. Without, it
// computes those of its first tile before the products, while the first stages are on the way, and
// those of later tiles after the products.
//
// The means of parts are added up as differences from the first part's, so that no digits are lost
// where all of them are far from 0.
#pragma once

#include "gemm/moment_rows.cuh"

namespace aicf {

struct PartMoments : MomentRows {
  static constexpr bool kReadsStages = false;
  static constexpr int kTerms = static_cast<int>(attr_part_terms);
  static constexpr int kParts = static_cast<int>(kLength / kTerms);
  static constexpr int kOwn = (kParts + 1) / 2;            ///< parts of a row that a thread takes
  static constexpr int kHeld = MinOf(kOwn, 24 / kBlocks);  ///< of these, those loaded by Begin
  typedef Pack<float, 2> Part;  ///< mean, and sum of the squares of the differences from it

  Part held[kBlocks][kHeld];
  const float* rows[kBlocks];

  /// Requests the thread's first kHeld parts of its rows of a tile. Rows past the last one read the
  /// last one.
  template <class Walk>
  AICF_DEVICE void Begin(const Args& args, const Walk& walk, int row0) {
#pragma unroll
    for (int i = 0; i < kBlocks; ++i) {
      const index_t m = MinOf(FirstOf(walk, row0) + i * 64 + Row(), kM - 1);
      rows[i] = static_cast<const float*>(args.in[2]) + OffsetOf<In2>(m, walk.batch);
#pragma unroll
      for (int j = 0; j < kHeld; ++j) held[i][j] = PartAt(i, j);
    }
  }
  AICF_DEVICE void AddStage(unsigned) {}
  /// Puts mean and scale of the consumer's rows into its memory.
  AICF_DEVICE void Finish(float* memory) {
#pragma unroll
    for (int i = 0; i < kBlocks; ++i) {
      const float first = __shfl_sync(0xffffffffu, held[i][0].v[0], Lane() & ~1);
      Total total{first};
#pragma unroll
      for (int j = 0; j < kHeld; ++j) total.Add(held[i][j], PartOf(j) < kParts);
#pragma unroll 4
      for (int j = kHeld; j < kOwn; ++j) total.Add(PartAt(i, j), PartOf(j) < kParts);
      const float apart = OfRow(total.apart) * (1.0f / kParts);
      const float between = fmaf(-apart, apart, OfRow(total.apart_squares) * (1.0f / kParts));
      const float within = OfRow(total.squares) * (1.0f / static_cast<float>(kLength));
      Put(memory, i * 64 + Row(), first + apart, between + within);
    }
  }

 private:
  struct Total {
    float first;  ///< mean of the first part
    float apart = 0, apart_squares = 0, squares = 0;

    AICF_DEVICE void Add(const Part& part, bool counts) {
      const float d = counts ? part.v[0] - first : 0.0f;
      apart += d;
      apart_squares = fmaf(d, d, apart_squares);
      squares += counts ? part.v[1] : 0.0f;
    }
  };
  static AICF_DEVICE int Lane() { return static_cast<int>(threadIdx.x) % 32; }
  /// The thread's part j among those of its row.
  static AICF_DEVICE int PartOf(int j) { return 2 * j + Half(); }
  AICF_DEVICE Part PartAt(int i, int j) const {
    constexpr index_t kStride = In2::stride(kAxisN);
    const float* mean = rows[i] + 2 * kStride * MinOf(PartOf(j), kParts - 1);
    return {mean[0], mean[kStride]};
  }
};

}  // namespace aicf
