/// Products of up to kFewRows rows of A: each group of codes is decoded into registers and used by
/// every row. For *.isa.cc files only.
#pragma once

#include "kernels/cpu/blockgemm/decoders.h"
#include "kernels/cpu/blockgemm/products.h"

AICF_ISA_BEGIN

AICF_INLINE int64_t Fewer(int64_t a, int64_t b) { return a < b ? a : b; }

AICF_INLINE Words RepeatFour(const int8_t* p) {
  int32_t word;
  std::memcpy(&word, p, sizeof word);
  return RepeatWord(word);
}

template <class D>
AICF_INLINE PackedBlock BlockAt(const char* panel, int64_t halves_bytes, int64_t block) {
  const auto* halves = reinterpret_cast<const uint16_t*>(panel);
  const auto* words = reinterpret_cast<const uint8_t*>(panel) + halves_bytes;
  return {halves + block * D::kHalves * kColumns, words + block * D::kWords * 4 * kColumns};
}

// How far ahead of its use the code prefetches a panel. Weights are used faster than they come from
// memory, and the processor's own prefetching stops at the end of a page.
inline constexpr int64_t kAheadBytes = 8192;

template <class D>
AICF_INLINE void AskAhead(const PackedBlock& b) {
  constexpr int kLine = 64, kBytes = kColumns * (D::kPlain ? 2 * D::kHalves : 4 * D::kWords);
  const auto* next = (D::kPlain ? reinterpret_cast<const char*>(b.halves)
                                : reinterpret_cast<const char*>(b.words)) +
                     kAheadBytes;
  for (int at = 0; at < kBytes; at += kLine) __builtin_prefetch(next + at);
}

/// Returns sum + the products of a group with one row of rounded elements. k: number of the group's
/// first element in BlockRows::codes, which has all rows one after the other.
template <class D>
AICF_INLINE Floats AddRounded(Floats sum, const DecodedGroup<D>& group, const BlockRows& a,
                              int64_t k) {
  constexpr int kRunWords = D::kRun / 4;
  const Floats scale = RepeatFloat(a.scales[k / kGroup]);
#pragma GCC unroll 2
  for (int run = 0; run < kGroup / D::kRun; ++run) {
    const BlockScales& s = group.scales[run];
    const BlockRows::Start start = a.starts[k / D::kRun + run];
    Words products = RepeatWord(D::kMinimum ? 0 : start.correction);
#pragma GCC unroll 8
    for (int i = 0; i < kRunWords; ++i) {
      const int at = run * kRunWords + i;
      products = Dot<D::kEightBits>(products, group.codes[at], RepeatFour(a.codes + k + 4 * at));
    }
    sum = MulAdd(ToFloats(products), s.scale * scale, sum);
    if constexpr (D::kMinimum) sum = MulAdd(s.minimum, RepeatFloat(start.sum), sum);
  }
  return sum;
}

/// sums += the products of a group with kRows rows of f32. A row may have several sums (row r has
/// numbers r, r + kRows and so on), so that an addition need not wait for the one before it.
template <class D, int kRows, int kSums>
AICF_INLINE void AddExact(Floats (&sums)[kSums], const DecodedGroup<D>& group, const float* x,
                          int64_t stride) {
#pragma GCC unroll 32
  for (int i = 0; i < kGroup; ++i) {
    const Floats value = group.Value(i);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      Floats& sum = sums[(i * kRows + r) % kSums];
      sum = MulAdd(value, RepeatFloat(x[r * stride + i]), sum);
    }
  }
}

template <class D, bool kRounded, int kRows, int kSums>
AICF_INLINE void AddGroup(Floats (&sums)[kSums], const PackedBlock& b, int g, const BlockTask& task,
                          int64_t k) {
  const DecodedGroup<D> group(b, g);
  const BlockRows& a = task.a;
  if constexpr (kRounded) {
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      sums[r] = AddRounded(sums[r], group, a, (task.first_row + r) * a.depth + k);
    }
  } else {
    AddExact<D, kRows>(sums, group, a.values + task.first_row * a.stride + k, a.stride);
  }
}

template <class D, bool kRounded, int kRows>
void FewRowsOfPanel(const BlockTask& task, const char* panel, float* out) {
  constexpr int kSums = kRounded ? kRows : kRows == 3 ? 3 : 4;
  Floats sums[kSums];
#pragma GCC unroll 4
  for (Floats& sum : sums) sum = RepeatFloat(0);
  const int64_t blocks = task.a.depth / (kGroup * D::kGroups);
  for (int64_t block = 0; block < blocks; ++block) {
    const PackedBlock b = BlockAt<D>(panel, task.halves_bytes, block);
    AskAhead<D>(b);
    const int64_t k = block * D::kGroups * kGroup;
    if constexpr (kRounded && kRows == 1) {
#pragma GCC unroll 8
      for (int g = 0; g < D::kGroups; ++g) {
        AddGroup<D, kRounded, kRows>(sums, b, g, task, k + g * kGroup);
      }
    } else {
      // The loop is not unrolled: with g constant the code would be some hundred KiB longer, and no
      // faster, since a group has many products here.
#pragma GCC unroll 1
      for (int g = 0; g < D::kGroups; ++g) {
        AddGroup<D, kRounded, kRows>(sums, b, g, task, k + g * kGroup);
      }
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int i = r + kRows; i < kSums; i += kRows) sums[r] = sums[r] + sums[i];
    StoreFloats(out + r * task.out_stride, sums[r]);
  }
}

template <class D, bool kRounded>
void FewRows(const BlockTask& task) {
  for (int64_t i = 0; i < task.panels; ++i) {
    const char* panel = task.packed + (task.first_panel + i) * task.panel_bytes;
    float* out = task.out + i * kColumns;
    switch (task.rows) {
      case 1:
        FewRowsOfPanel<D, kRounded, 1>(task, panel, out);
        break;
      case 2:
        FewRowsOfPanel<D, kRounded, 2>(task, panel, out);
        break;
      case 3:
        FewRowsOfPanel<D, kRounded, 3>(task, panel, out);
        break;
      default:
        FewRowsOfPanel<D, kRounded, 4>(task, panel, out);
    }
  }
}

AICF_ISA_END
