// The sums that a warp of cuda.blockgemm.decode makes of a panel of B and the rows of A.
//
// The fragment that holds A has eight columns but A may have fewer rows, so its columns hold
// kRowColumns rows of A at kSlots different runs of a chunk. A chunk takes kSets such fragments: in
// number s, column kRowColumns * q + r (slot q) has row r of A in run kSets * q + s. Each run of B
// is multiplied with the fragment that has the same run of A in one of its slots; the sums of the
// other slots are ignored. A lane has two neighbouring columns of every product. So it keeps the
// sums of only one slot's runs (if kRowColumns is 1: of two neighbouring slots' runs) and decodes
// the scales of only these.
//
// An element of B is scale * 2^b * (number - kCentre) - minimum, where `number` is what
// fragments.cuh makes of its code. So a group's sum is scale * 2^b * (sum(x * number) -
// kCentre * sum(x)) - minimum * sum(x). The factor 2^b is applied once at the end.
#pragma once

#include "blockgemm/rows.cuh"

namespace aicf {

static_assert(Chunk::kGroups > 0, "elements share scales");

AICF_DEVICE constexpr int RowColumns() {
  int columns = 8 / Chunk::kRuns;
  while (columns < kM) columns *= 2;
  return columns;
}
constexpr int kRowColumns = RowColumns();
static_assert(kRowColumns <= 8, "the columns of a fragment");
constexpr int kSlots = 8 / kRowColumns;
constexpr int kSets = Chunk::kRuns / kSlots;
constexpr bool kOneRow = kRowColumns == 1;
/// Rows of A that a lane has sums of.
constexpr int kLaneRows = kOneRow ? 1 : 2;
/// Groups of a run, and runs that a quarter of a chunk's groups (kOwn of Scales::Pair) cover.
constexpr int kRunGroups = Chunk::kGroups / Chunk::kRuns;
constexpr int kOwnRuns = Chunk::kRuns / 4;

/// For lane part t (a lane's number modulo 4): the first slot of its two columns of the products,
/// and the row of A of column e of these. Columns whose row is beyond the last one of A have that
/// of another, since nobody reads their sums.
AICF_DEVICE int SlotOfPart(int t) { return 2 * t / kRowColumns; }
AICF_DEVICE int RowOfPart(int t, int e) { return 2 * t % kRowColumns + e; }

/// A lane's sums for one panel: those of its two rows of B with its rows of A.
class PanelSums {
 public:
  AICF_DEVICE explicit PanelSums(int lane) : lane_(lane), t_(lane % 4) {
#pragma unroll
    for (int e = 0; e < 2 * kLaneRows; ++e) total_[e / kLaneRows][e % kLaneRows] = 0.0f;
  }

  /// Adds the products of the chunk at `chunk` with the rows of A. `rows` has what a lane needs of
  /// these for this chunk: Load(set, x) loads its part of the fragment of a set, and
  /// Sum(set, g, e) is the sum of the elements of group g of a run, of its column e in that set.
  template <class Rows>
  AICF_DEVICE void AddChunk(const char* chunk, const Rows& rows) {
    const LaneCodes codes(chunk, lane_);
    const char* scales = chunk + Chunk::kCodesBytes;
#pragma unroll
    for (int set = 0; set < kSets; ++set) {
      u32 x[kXParts][4];
      rows.Load(set, x);
      float kept[kRunGroups][4];
#pragma unroll
      for (int slot = 0; slot < kSlots; ++slot) {
#pragma unroll
        for (int g = 0; g < kRunGroups; ++g) {
          float c[4] = {0.0f, 0.0f, 0.0f, 0.0f};
          Multiply(codes, slot * kSets + set, g, x, c);
          Keep(slot, c, kept[g]);
        }
      }
#pragma unroll
      for (int g = 0; g < kRunGroups; ++g) {
        const float sum[2] = {rows.Sum(set, g, 0), rows.Sum(set, g, 1)};
        AddGroups(scales, set, g, kept[g], sum);
      }
    }
  }

  /// Stores the sums into the warp's cells, at place (row of B) * kM + (row of A).
  AICF_DEVICE void Store(float* cells) {
#pragma unroll
    for (int row = 0; row < 2; ++row) {
#pragma unroll
      for (int e = 0; e < kLaneRows; ++e) {
        // The lanes of the other slots have the sums of the other runs of the same rows.
        float all = total_[row][e];
        if constexpr (kRowColumns <= 2) all = all + ShuffleXor(all, 1);
        if constexpr (kRowColumns <= 4) all = all + ShuffleXor(all, 2);
        if (SlotOfPart(t_) == 0 && RowOfPart(t_, e) < kM) {
          cells[(lane_ / 4 + row * 8) * kM + RowOfPart(t_, e)] = all;
        }
      }
    }
  }

 private:
  /// Adds the products of group g of a run to c. The smallest parts of A are added first, while the
  /// sum is still small and rounding loses little.
  static AICF_DEVICE void Multiply(const LaneCodes& codes, int run, int g,
                                   const u32 (&x)[kXParts][4], float (&c)[4]) {
    constexpr int kFours = 2 / kRunGroups;  // of the lane's eight elements
    u32 pairs[kFours][4][kTerms];
#pragma unroll
    for (int i = 0; i < 4 * kFours; ++i) {
      const int four = g + i / 4;
      PairOfB(codes, (run * 2 + i % 2) * 4 + four * 2 + i % 4 / 2, pairs[i / 4][i % 4]);
    }
#pragma unroll
    for (int part = kXParts - 1; part >= 0; --part) {
#pragma unroll
      for (int i = 0; i < kFours * kTerms; ++i) {
        const auto& own = pairs[i / kTerms];
        const int term = i % kTerms, four = g + i / kTerms;
        const u32 a[4] = {own[0][term], own[1][term], own[2][term], own[3][term]};
        const u32 b[2] = {x[part][2 * four], x[part][2 * four + 1]};
        MultiplyPairs(c, a, b);
      }
    }
  }

  /// Takes over c where the lane's columns are those of `slot`.
  AICF_DEVICE void Keep(int slot, const float (&c)[4], float (&kept)[4]) const {
    if constexpr (kOneRow) {
#pragma unroll
      for (int row = 0; row < 2; ++row) {
        const int e = row * 2 + slot % 2;
        kept[e] = slot < 2 || t_ == slot / 2 ? c[e] : kept[e];
      }
    } else {
#pragma unroll
      for (int e = 0; e < 4; ++e) kept[e] = slot == 0 || SlotOfPart(t_) == slot ? c[e] : kept[e];
    }
  }

  /// Scales and adds group g of the runs of a set, of which the lane has kept those of its own
  /// slot. `sum` has the sums of A's elements for its two columns.
  AICF_DEVICE void AddGroups(const char* scales, int set, int g, const float (&kept)[4],
                             const float (&sum)[2]) {
    if constexpr (kOneRow) {
      // Slots 2 * t and 2 * t + 1 are one quarter of the groups.
#pragma unroll
      for (int e = 0; e < 2; ++e) {
#pragma unroll
        for (int row = 0; row < 2; ++row) {
          const GroupScale pair = Scales::Pair(scales, lane_ / 4 + 8 * row, t_, e * kRunGroups + g);
          Add(pair, kept[row * 2 + e], sum[e], total_[row][0]);
        }
      }
    } else {
      const int quarter = SlotOfPart(t_) * (kSets / kOwnRuns) + set / kOwnRuns;
      const int own = set % kOwnRuns * kRunGroups + g;
#pragma unroll
      for (int row = 0; row < 2; ++row) {
        const GroupScale pair = Scales::Pair(scales, lane_ / 4 + 8 * row, quarter, own);
#pragma unroll
        for (int e = 0; e < 2; ++e) Add(pair, kept[row * 2 + e], sum[e], total_[row][e]);
      }
    }
  }
  static AICF_DEVICE void Add(const GroupScale& pair, float product, float sum, float& total) {
    total = fmaf(pair.scale, fmaf(-kCentre, sum, product), total);
    if constexpr (kHasMinimum) total = fmaf(-pair.minimum, sum * (1.0f / kUnit), total);
  }

  const int lane_, t_;
  float total_[2][kLaneRows];
};

}  // namespace aicf
