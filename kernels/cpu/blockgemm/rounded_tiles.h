/// Tiles of math mode int8: products of integers, their sums scaled once per run of the weights'
/// format. For *.isa.cc files only.
#pragma once

#include "kernels/cpu/blockgemm/many_rows.h"

AICF_ISA_BEGIN

// Elements along k of a stretch: decoded, they take 32 KiB for two panels.
inline constexpr int64_t kRoundedStretch = 1024;

// Codes [run][word of the run][panel], scales and minimums [run][panel], sixteen columns each.
struct RoundedBlocks {
  static constexpr int64_t kPanelColumns = kColumns * kPanelsOfTile;
  alignas(64) uint8_t codes[kRoundedStretch * kPanelColumns];
  alignas(64) float scales[kRoundedStretch / 16 * kPanelColumns];
  alignas(64) float minimums[kRoundedStretch / 16 * kPanelColumns];
};

// A's part of a tile, from the stretch's first element on, and where results go.
struct RoundedTile {
  const RoundedBlocks* b;
  int64_t length;
  const int8_t* codes;  // of the first row; the next one is `depth` further
  const float* scales;
  const BlockRows::Start* starts;
  int64_t depth;
  float* out;
  int64_t out_stride;
  bool add;  // whether sums are added to those in `out`: true for all stretches but the first
};

template <int kRows, int kPanels>
AICF_INLINE void StartSums(const float* out, int64_t stride, bool add,
                           Floats (&sums)[kRows][kPanels]) {
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int j = 0; j < kPanels; ++j) {
      sums[r][j] = add ? LoadFloats(out + r * stride + j * kColumns) : RepeatFloat(0);
    }
  }
}

template <int kRows, int kPanels>
AICF_INLINE void StoreSums(const Floats (&sums)[kRows][kPanels], float* out, int64_t stride) {
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int j = 0; j < kPanels; ++j) StoreFloats(out + r * stride + j * kColumns, sums[r][j]);
  }
}

template <int kRun, bool kMinimum, bool kEightBits, int kRows, int kPanels>
void RunRoundedTile(const RoundedTile& t) {
  constexpr int kRunWords = kRun / 4;
  Floats sums[kRows][kPanels];
  StartSums(t.out, t.out_stride, t.add, sums);
  const uint8_t* codes = t.b->codes;
  const float *scales = t.b->scales, *minimums = t.b->minimums;
  const int8_t* a = t.codes;
  const int64_t depth = t.depth, runs = t.length / kRun;
  for (int64_t run = 0; run < runs; ++run, a += kRun) {
    Words products[kRows][kPanels];
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const int32_t start = kMinimum ? 0 : t.starts[r * (depth / kRun) + run].correction;
#pragma GCC unroll 2
      for (int j = 0; j < kPanels; ++j) products[r][j] = RepeatWord(start);
    }
#pragma GCC unroll 8
    for (int i = 0; i < kRunWords; ++i) {
      Words b[kPanels];
#pragma GCC unroll 2
      for (int j = 0; j < kPanels; ++j, codes += 4 * kColumns) b[j] = LoadWords(codes);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        const Words four = RepeatFour(a + r * depth + 4 * i);
#pragma GCC unroll 2
        for (int j = 0; j < kPanels; ++j) {
          products[r][j] = Dot<kEightBits>(products[r][j], b[j], four);
        }
      }
    }
    Floats scale[kPanels], minimum[kPanels];
#pragma GCC unroll 2
    for (int j = 0; j < kPanels; ++j, scales += kColumns, minimums += kColumns) {
      scale[j] = LoadFloats(scales);
      if constexpr (kMinimum) minimum[j] = LoadFloats(minimums);
    }
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const Floats by = RepeatFloat(t.scales[r * (depth / kGroup) + run * kRun / kGroup]);
#pragma GCC unroll 2
      for (int j = 0; j < kPanels; ++j) {
        sums[r][j] = MulAdd(ToFloats(products[r][j]), scale[j] * by, sums[r][j]);
        if constexpr (kMinimum) {
          const Floats sum = RepeatFloat(t.starts[r * (depth / kRun) + run].sum);
          sums[r][j] = MulAdd(minimum[j], sum, sums[r][j]);
        }
      }
    }
  }
  StoreSums(sums, t.out, t.out_stride);
}

template <class D, int kPanels>
struct MakeRoundedTile {
  template <int kRows>
  static constexpr auto Tile() {
    return &RunRoundedTile<D::kRun, D::kMinimum, D::kEightBits, kRows, kPanels>;
  }
};

template <class D>
struct RoundedTiles {
  using Decoder = D;
  // So many rows that their sums of integers and of floats, a vector of codes for each panel and
  // one of A fill the register file.
  static constexpr int kRows = kLanes == 16 ? 6 : 4;
  static constexpr int64_t kStretch = kRoundedStretch;
  static constexpr int kRuns = kGroup / D::kRun, kRunWords = kGroupWords / kRuns;

  RoundedBlocks decoded;

  AICF_INLINE void Keep(int64_t number, int panel, int panels, const DecodedGroup<D>& group) {
#pragma GCC unroll 8
    for (int i = 0; i < kGroupWords; ++i) {
      const int64_t word = number * kGroupWords + i;
      StoreWords(decoded.codes + (word * panels + panel) * 4 * kColumns, group.codes[i]);
    }
#pragma GCC unroll 2
    for (int i = 0; i < kRuns; ++i) {
      const int64_t at = ((number * kRuns + i) * panels + panel) * kColumns;
      StoreFloats(decoded.scales + at, group.scales[i].scale);
      if constexpr (D::kMinimum) StoreFloats(decoded.minimums + at, group.scales[i].minimum);
    }
  }

  void Run(const BlockTask& task, const Stretch& s, int64_t r, int64_t rows, float* out) const {
    const int64_t at = (task.first_row + r) * task.a.depth + s.first;
    const RoundedTile tile = {&decoded,
                              s.length,
                              task.a.codes + at,
                              task.a.scales + at / kGroup,
                              task.a.starts + at / D::kRun,
                              task.a.depth,
                              out,
                              task.out_stride,
                              s.first > 0};
    constexpr auto kSequence = std::make_integer_sequence<int, kRows>();
    const auto run = s.panels == 1 ? PickRows<MakeRoundedTile<D, 1>>(rows, kSequence)
                                   : PickRows<MakeRoundedTile<D, kPanelsOfTile>>(rows, kSequence);
    run(tile);
  }
};

AICF_ISA_END
