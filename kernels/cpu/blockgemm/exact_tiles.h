/// Tiles of math mode fp32: weights are decoded to f32, and products are formed as those of any
/// matrix. For *.isa.cc files only.
#pragma once

#include "kernels/cpu/blockgemm/rounded_tiles.h"

AICF_ISA_BEGIN

// Elements along k of a stretch: decoded, they take 32 KiB for two panels.
inline constexpr int64_t kExactStretch = 256;

struct ExactTile {
  const float* b;  // [element][panel][column]
  int64_t length;
  const float* a;  // the first row, from the stretch's first element on
  int64_t a_stride;
  float* out;
  int64_t out_stride;
  bool add;  // whether sums are added to those in `out`: true for all stretches but the first
};

// Addresses of the rows of A. Rows r, r + 1 and r + 2 share a base register, since [base],
// [base + s] and [base + 2 s] are all addressing modes of x86.
template <int kRows>
struct ExactRows {
  static constexpr int kShare = 3, kBases = (kRows + kShare - 1) / kShare;
  const float* base[kBases];
  int64_t stride;

  AICF_INLINE ExactRows(const float* a, int64_t row_stride) : stride(row_stride) {
#pragma GCC unroll 8
    for (int i = 0; i < kBases; ++i) base[i] = a + i * kShare * stride;
  }
  AICF_INLINE float At(int row) const { return base[row / kShare][row % kShare * stride]; }
  AICF_INLINE void Next() {
#pragma GCC unroll 8
    for (int i = 0; i < kBases; ++i) {
      ++base[i];
      // Keeps the compiler from forming every address from one base.
      asm("" : "+r"(base[i]));
    }
  }
};

template <int kRows, int kPanels>
void RunExactTile(const ExactTile& t) {
  Floats sums[kRows][kPanels];
  StartSums(t.out, t.out_stride, t.add, sums);
  ExactRows<kRows> rows(t.a, t.a_stride);
  const float* b = t.b;
  for (int64_t k = 0; k < t.length; ++k) {
    Floats values[kPanels];
#pragma GCC unroll 2
    for (int j = 0; j < kPanels; ++j, b += kColumns) values[j] = LoadFloats(b);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const Floats a = RepeatFloat(rows.At(r));
#pragma GCC unroll 2
      for (int j = 0; j < kPanels; ++j) sums[r][j] = MulAdd(a, values[j], sums[r][j]);
    }
    rows.Next();
  }
  StoreSums(sums, t.out, t.out_stride);
}

template <int kPanels>
struct MakeExactTile {
  template <int kRows>
  static constexpr auto Tile() {
    return &RunExactTile<kRows, kPanels>;
  }
};

template <class D>
struct ExactTiles {
  using Decoder = D;
  // So many rows that their sums, a vector of values for each panel and one of A fill the register
  // file.
  static constexpr int kRows = kLanes == 16 ? 12 : 6;
  static constexpr int64_t kStretch = kExactStretch;

  alignas(64) float values[kStretch * kColumns * kPanelsOfTile];

  AICF_INLINE void Keep(int64_t number, int panel, int panels, const DecodedGroup<D>& group) {
#pragma GCC unroll 32
    for (int i = 0; i < kGroup; ++i) {
      const int64_t at = (number * kGroup + i) * panels + panel;
      StoreFloats(values + at * kColumns, group.Value(i));
    }
  }

  void Run(const BlockTask& task, const Stretch& s, int64_t r, int64_t rows, float* out) const {
    const float* a = task.a.values + (task.first_row + r) * task.a.stride + s.first;
    const ExactTile tile = {values, s.length, a, task.a.stride, out, task.out_stride, s.first > 0};
    constexpr auto kSequence = std::make_integer_sequence<int, kRows>();
    const auto run = s.panels == 1 ? PickRows<MakeExactTile<1>>(rows, kSequence)
                                   : PickRows<MakeExactTile<kPanelsOfTile>>(rows, kSequence);
    run(tile);
  }
};

AICF_ISA_END
