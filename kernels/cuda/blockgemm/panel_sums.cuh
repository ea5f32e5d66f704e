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

constexpr int kSumsBytes = (kPartGroups * kM * 4 + 15) / 16 * 16;
/// Sums of the elements of A by group: place g * kM + m has that of row m over group g of this
/// block's part of k.
AICF_DEVICE float* SharedSums() { return reinterpret_cast<float*>(DynamicShared() + kXBytes); }

/// A lane's sums for one panel: those of its two rows of B with its rows of A.
class PanelSums {
 public:
  AICF_DEVICE explicit PanelSums(int lane) : lane_(lane), t_(lane % 4) {
#pragma unroll
    for (int e = 0; e < 2 * kLaneRows; ++e) total_[e / kLaneRows][e % kLaneRows] = 0.0f;
  }

  /// Adds the products of the chunk at `chunk`, which is number `number` of this block's part of k.
  AICF_DEVICE void AddChunk(const char* chunk, int number) {
    const LaneCodes codes(chunk, lane_);
    const char* scales = chunk + Chunk::kCodesBytes;
#pragma unroll
    for (int set = 0; set < kSets; ++set) {
      u32 x[kXParts][4];
      LoadX(number * Chunk::kRuns + set, x);
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
        AddGroups(scales, number * Chunk::kGroups, set, g, kept[g]);
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
        if (Slot() == 0 && RowOfLane(e) < kM) {
          cells[(lane_ / 4 + row * 8) * kM + RowOfLane(e)] = all;
        }
      }
    }
  }

 private:
  /// The first slot of the lane's two columns, and the row of A of column e.
  AICF_DEVICE int Slot() const { return 2 * t_ / kRowColumns; }
  AICF_DEVICE int RowOfLane(int e) const { return 2 * t_ % kRowColumns + e; }

  /// The lane's part of the fragment of A that has run `run` in its first slot. Rows beyond the
  /// last one of A repeat it, since nobody reads their sums.
  AICF_DEVICE void LoadX(int run, u32 (&x)[kXParts][4]) const {
    const int column = lane_ / 4;
    const int m = MinOf(column % kRowColumns, kM - 1);
    const char* from =
        SharedX() + m * kXParts * kXPitch + ((run + column / kRowColumns * kSets) * 4 + t_) * 16;
#pragma unroll
    for (int part = 0; part < kXParts; ++part) LoadWords(from + part * kXPitch, x[part]);
  }

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
      for (int e = 0; e < 4; ++e) kept[e] = slot == 0 || Slot() == slot ? c[e] : kept[e];
    }
  }

  /// Scales and adds group g of the runs of a set, of which the lane has kept those of its own
  /// slot. `group0` is the chunk's first group.
  AICF_DEVICE void AddGroups(const char* scales, int group0, int set, int g,
                             const float (&kept)[4]) {
    if constexpr (kOneRow) {
      // Slots 2 * t and 2 * t + 1 are one quarter of the groups.
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const float sum = SharedSums()[group0 + t_ * kOwn + e * kRunGroups + g];
#pragma unroll
        for (int row = 0; row < 2; ++row) {
          const GroupScale pair = Scales::Pair(scales, lane_ / 4 + 8 * row, t_, e * kRunGroups + g);
          Add(pair, kept[row * 2 + e], sum, total_[row][0]);
        }
      }
    } else {
      const int quarter = Slot() * (kSets / kOwnRuns) + set / kOwnRuns;
      const int own = set % kOwnRuns * kRunGroups + g;
      const float* of_group = SharedSums() + (group0 + quarter * kOwn + own) * kM;
      float sum[2];
#pragma unroll
      for (int e = 0; e < 2; ++e) sum[e] = of_group[MinOf(RowOfLane(e), kM - 1)];
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
