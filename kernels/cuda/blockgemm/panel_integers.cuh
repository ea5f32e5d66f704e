// The sums that a warp of cuda.blockgemm.decode (with kIntegers) or cuda.blockgemm.stream makes of
// a panel of B and one row of A as integers. The row's elements are whole numbers of at most 2^14
// with one exponent for each group, and codes are multiplied as they are: three instructions unpack
// eight codes of 4 bits, where numbers of 16 bits take seven.
//
// An element of A is 256 * high + low. The fragment that holds A has eight columns, two for each of
// four slots: the high and the low parts of one group. Group kOwn * q + s of a chunk has its
// columns in slot q of set s. The products of a set are added up in one accumulator: for each of
// its slots, B's run that has the slot's group is multiplied with a fragment whose other columns
// are 0. Lane part t finally has the sums of slot t, which are those of its own quarter of the
// groups (Scales::Pair).
#pragma once

#include "blockgemm/rows.cuh"

namespace aicf {

static_assert(kIntegers == 0 || kM == 1, "columns hold parts of one row");

/// By how many bits codes lie further left than in B's blocks, and where the code of the value 0
/// then lies. Codes of 8 bits are signed.
constexpr int kCodeShift = Chunk::kBits == 8 ? 0 : 7 - Chunk::kBits;
constexpr int kCodeZero = Chunk::kBits == 8 ? 0 : Chunk::kZero << (kCodeShift & 7);
constexpr int kGroupsOfRun = Chunk::kGroups / Chunk::kRuns;
constexpr int kIntegerSlots = 4, kIntegerSets = kOwn;

/// Number of the lane's element, of its eight of a run, that is byte `byte` of its word `word` of a
/// fragment.
AICF_DEVICE constexpr int ElementOfByte(int word, int byte) {
  const int pair = Chunk::kLow == 8 ? 2 * word + byte % 2 : byte % 2 * 2 + word;
  return 2 * pair + byte / 2;
}

/// The bits of kWidth from a plane of as many that belong to word `word` of unit `unit` (a run of
/// one row), moved to bit kTo of each byte and combined with `bits`. REQUIRES: all arguments but
/// the words are known at compile time.
template <int kWidth, int kTo>
AICF_DEVICE u32 CodeBits(const u32* words, int unit, int word, u32 bits) {
  constexpr int kUnits = MaxOf(1, 4 / kWidth);  // of a word
  constexpr u32 kField = (1u << kWidth) - 1;
  const u32 from = words[unit / kUnits];
#pragma unroll
  for (int upper = 0; upper < 2; ++upper) {
    // Of four neighbouring pairs, this one goes into the even or the odd bytes.
    const int pair = 2 * upper + word;
    const int at = unit % kUnits * kWidth * 4 + pair * kWidth + Rotation<kWidth>();
    const int right = (at - kTo - 8 * upper) & 31;
    const u32 moved = right == 0 ? from : from >> right | from << (32 - right);
    // In a plane of 4 bits both pairs move by the same number of bits.
    const u32 mask = kWidth == 4 ? kField * 0x01010101u : kField * 0x00010001u << (8 * upper);
    bits = bits | (moved & mask << kTo);
    if constexpr (kWidth == 4) break;
  }
  return bits;
}

/// One word of the lane's fragment of B: half of its codes of a run in one row.
AICF_DEVICE u32 CodeWord(const LaneCodes& codes, int unit, int word) {
  if constexpr (Chunk::kLow == 8) {
    return codes.low[MinOf(2 * unit + word, Chunk::kLowWords - 1)];
  } else {
    u32 bits = CodeBits<Chunk::kLow, kCodeShift>(codes.low, unit, word, 0);
    if constexpr (Chunk::kHigh > 0) {
      bits =
          CodeBits<MaxOf(1, Chunk::kHigh), kCodeShift + Chunk::kLow>(codes.high, unit, word, bits);
    }
    return bits;
  }
}

/// Scales::Pair, which for scales of 6 bits takes fewer instructions where d and dmin are shared by
/// several groups. If one of them is infinite, the result is NaN.
template <class Of>
struct PanelScales {
  static AICF_DEVICE GroupScale Pair(const char* scales, int row, int t, int i) {
    return Of::Pair(scales, row, t, i);
  }
};
template <>
struct PanelScales<SixBitScales> {
  static AICF_DEVICE float Times(float factor, u32 bits) {
    return fmaf(factor, __uint_as_float(bits), factor * -0x1p23f);
  }
  static AICF_DEVICE GroupScale Pair(const char* scales, int row, int t, int i) {
    const SixBitScales::Parts parts = SixBitScales::PartsOf(scales, row, t, i);
    return {Times(parts.d, parts.scale), Times(parts.dmin, parts.minimum)};
  }
};

/// Where a lane finds its words of the fragment of each slot among those of a set: its own, or
/// zeros. Found once for a panel, because the compiler would find them again for every chunk.
struct SlotPlaces {
  static constexpr int kZerosAt = 32 * 8;  ///< behind the words of all lanes, 8 bytes each
  int of[kIntegerSlots];

  AICF_DEVICE explicit SlotPlaces(int lane) {
#pragma unroll
    for (int slot = 0; slot < kIntegerSlots; ++slot) {
      of[slot] = lane / 8 == slot ? lane * 8 : kZerosAt;
      HoldIndex(of[slot]);
    }
  }
};

/// A lane's sums for one panel: those of its two rows of B with the row of A.
class PanelIntegers {
 public:
  AICF_DEVICE explicit PanelIntegers(int lane) : lane_(lane), places_(lane) {}

  /// Adds the products of the chunk at `chunk` with the row. `row` has what a lane needs of it for
  /// this chunk: Load(set, place, b) loads its part of a fragment, and Of(set) is what belongs to
  /// the group in its own slot.
  template <class Row>
  AICF_DEVICE void AddChunk(const char* chunk, const Row& row) {
    const LaneCodes codes(chunk, lane_);
    const char* scales = chunk + Chunk::kCodesBytes;
#pragma unroll
    for (int run0 = 0; run0 < kIntegerSets / kGroupsOfRun; ++run0) {
      int sums[kGroupsOfRun][4];
#pragma unroll
      for (int g = 0; g < kGroupsOfRun; ++g) {
        const int start = kCodeZero == 0 ? 0 : row.Of(run0 * kGroupsOfRun + g).start;
        sums[g][0] = sums[g][2] = 0;
        sums[g][1] = sums[g][3] = start;
      }
#pragma unroll
      for (int slot = 0; slot < kIntegerSlots; ++slot) {
        const int unit = (slot * (Chunk::kRuns / kIntegerSlots) + run0) * 2;
        const u32 a[4] = {CodeWord(codes, unit, 0), CodeWord(codes, unit + 1, 0),
                          CodeWord(codes, unit, 1), CodeWord(codes, unit + 1, 1)};
#pragma unroll
        for (int g = 0; g < kGroupsOfRun; ++g) {
          u32 b[2];
          row.Load(run0 * kGroupsOfRun + g, places_.of[slot], b);
          MmaS8(sums[g], a, b);
        }
      }
#pragma unroll
      for (int g = 0; g < kGroupsOfRun; ++g) {
        AddGroup(scales, run0 * kGroupsOfRun + g, row.Of(run0 * kGroupsOfRun + g), sums[g]);
      }
    }
  }

  /// The lanes that Store stores by.
  static constexpr int kStorers = 8;
  static AICF_DEVICE bool Stores(int lane) { return lane % 4 == 0; }
  /// Stores the sums into the warp's cells, at place (row of B).
  AICF_DEVICE void Store(float* cells) {
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      float all = total_[row];
      all = all + ShuffleXor(all, 1);
      all = all + ShuffleXor(all, 2);
      if (Stores(lane_)) cells[lane_ / 4 + row * 8] = all;
    }
  }

 private:
  template <class Group>
  AICF_DEVICE void AddGroup(const char* scales, int own, const Group& of, const int (&sums)[4]) {
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      const GroupScale pair =
          PanelScales<Scales>::Pair(scales, lane_ / 4 + 8 * row, lane_ % 4, own);
      const float product = static_cast<float>(sums[2 * row] * 256 + sums[2 * row + 1]);
      total_[row] = fmaf(pair.scale * of.unit, product, total_[row]);
      if constexpr (kHasMinimum) total_[row] = fmaf(-pair.minimum, of.sum, total_[row]);
    }
  }

  const int lane_;
  const SlotPlaces places_;
  float total_[2] = {0.0f, 0.0f};
};

}  // namespace aicf
