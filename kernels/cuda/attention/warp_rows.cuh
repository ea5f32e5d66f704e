// What a warp of the attention kernels on tensor cores keeps: 16 rows, their scores, weights and
// sums in fragments. Before it includes this, a kernel defines
//   kStep          keys of one turn of a warp
//   kWord          whether an element of a tile is 32 bits wide
//   kHalves        2, or 1 where only the first 8 of the 16 rows are used
//   kUnroll        steps along a head that the loop of Multiply is unrolled by
//   kShortWeights  whether weights are computed with the chip's own 2^x
#pragma once

#include "attention/keys.cuh"
#include "common/fragment.cuh"

namespace aicf {

constexpr int kDepth = kWord ? 8 : 16;  ///< of one product of fragments
// Pitches that put the rows which one instruction reads into different banks.
constexpr int kPad = kWord ? 4 : 8;
constexpr int kHeadWidth = (kHead + 15) / 16 * 16;
constexpr int kValueWidth = (kValueHead + 15) / 16 * 16;
constexpr int kHeadPitch = kHeadWidth + kPad;
constexpr int kValuePitch = kValueWidth + kPad;
constexpr int kKeyTiles = kStep / 8;
constexpr int kValueTiles = kValueWidth / 8;

/// e^x, for weights.
AICF_DEVICE float WeightOf(float x) {
  if constexpr (kShortWeights)
    return Exp16(x);
  else
    return ExpF32(x);
}

template <class T>
AICF_DEVICE unsigned PairOf(float low, float high) {
  typedef Narrow<T> N;
  return N::Of(low).bits | static_cast<unsigned>(N::Of(high).bits) << 16;
}

/// Fragment of 16 queries by kDepth elements.
template <class T>
AICF_DEVICE void LoadQuery(unsigned (&f)[4], const T* q, int lane) {
  if constexpr (kWord) {
    const T* p = q + lane / 4 * kHeadPitch + lane % 4;
    f[0] = F32ToTf32(p[0]);
    f[1] = F32ToTf32(p[8 * kHeadPitch]);
    f[2] = F32ToTf32(p[4]);
    f[3] = F32ToTf32(p[8 * kHeadPitch + 4]);
  } else {
    LoadMatrix4(f, q + lane % 16 * kHeadPitch + lane / 16 * 8);
  }
}

/// Fragments of kDepth elements of 16 keys: the first 8, then the others.
template <class T>
AICF_DEVICE void LoadKeys(unsigned (&f)[2][2], const T* k, int lane) {
  if constexpr (kWord) {
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      const T* p = k + (n * 8 + lane / 4) * kHeadPitch + lane % 4;
      f[n][0] = F32ToTf32(p[0]);
      f[n][1] = F32ToTf32(p[4]);
    }
  } else {
    unsigned r[4];
    LoadMatrix4(r, k + (lane / 16 * 8 + lane % 8) * kHeadPitch + lane / 8 % 2 * 8);
    f[0][0] = r[0];
    f[0][1] = r[1];
    f[1][0] = r[2];
    f[1][1] = r[3];
  }
}

/// Fragment of kDepth values by 8 columns. Where kDepth is 8, values are in the order of Weights.
template <class T>
AICF_DEVICE void LoadValues(unsigned (&f)[2], const T* v, int lane) {
  if constexpr (kWord) {
    const T* p = v + lane % 4 * 2 * kValuePitch + lane / 4;
    f[0] = F32ToTf32(p[0]);
    f[1] = F32ToTf32(p[kValuePitch]);
  } else {
    LoadMatrix2Transposed(f, v + lane % 16 * kValuePitch);
  }
}

/// Weights of kDepth keys, from those of `tile` on, as a fragment. The order of keys in a product
/// is free as long as values have the same one. With 8 keys, columns t and t + 4 of the fragment
/// are keys 2t and 2t + 1, because these are the weights that the lane holds already.
template <class T>
AICF_DEVICE void Weights(unsigned (&f)[4], const float (&s)[kKeyTiles][4], int tile) {
  if constexpr (kWord) {
    f[0] = F32ToTf32(s[tile][0]);
    f[1] = F32ToTf32(s[tile][2]);
    f[2] = F32ToTf32(s[tile][1]);
    f[3] = F32ToTf32(s[tile][3]);
  } else {
    f[0] = PairOf<T>(s[tile][0], s[tile][1]);
    f[1] = kHalves > 1 ? PairOf<T>(s[tile][2], s[tile][3]) : 0;
    f[2] = PairOf<T>(s[tile + 1][0], s[tile + 1][1]);
    f[3] = kHalves > 1 ? PairOf<T>(s[tile + 1][2], s[tile + 1][3]) : 0;
  }
}

/// What a warp keeps: rows lane / 4 and lane / 4 + 8 of its 16, in fragments.
struct WarpRows {
  float sum[kValueTiles][4] = {};
  float score[kKeyTiles][4];
  float max[2], total[2] = {};
  RowPlace place[2];
  /// Keys [seen_begin, seen_end) are seen by both rows, as far as the tile has them.
  int seen_begin = 0, seen_end = 0x7fffffff;

  /// Sets `place` of the row in the lane's upper or lower half.
  AICF_DEVICE void Place(const Tile& tile, const Request& request, int half, int lane) {
    const int r = lane / 4 + half * 8;
    place[half].Set(tile, request, r);
    if (!tile.Holds(r)) return;
    seen_begin = MaxOf(seen_begin, place[half].begin);
    seen_end = MinOf(seen_end, place[half].end);
  }
  /// Whether every row of the warp sees all keys from `first` on. Bit j of `present` says whether
  /// the j-th of them exists. Called by all lanes together.
  AICF_DEVICE bool SeesAll(int first, u32 present) const {
    constexpr u32 kAllPresent = kStep < 32 ? (1u << kStep % 32) - 1 : 0xffffffffu;
    const bool all = first >= seen_begin && first + kStep <= seen_end && present == kAllPresent;
    return __ballot_sync(0xffffffffu, all) == 0xffffffffu;
  }

  AICF_DEVICE void Multiply(const tile_t* query, const tile_t* keys, int lane) {
#pragma unroll
    for (int n = 0; n < kKeyTiles; ++n) {
#pragma unroll
      for (int e = 0; e < 4; ++e) score[n][e] = 0;
    }
#pragma unroll kUnroll
    for (int d = 0; d < kHeadWidth; d += kDepth) {
      unsigned a[4];
      LoadQuery(a, query + d, lane);
#pragma unroll
      for (int n = 0; n < kKeyTiles; n += 2) {
        unsigned b[2][2];
        LoadKeys(b, keys + n * 8 * kHeadPitch + d, lane);
        MultiplyFragments(score[n], a, b[0]);
        MultiplyFragments(score[n + 1], a, b[1]);
      }
    }
  }

  /// Turns products into scores of the keys from `first` on. present[j] says whether the j-th of
  /// these keys exists.
  template <class Present>
  AICF_DEVICE void Score(const Args& args, int b, int first, const Present& present, int lane) {
    const int of_lane = lane % 4 * 2;
    const auto own = present + of_lane;
#pragma unroll
    for (int n = 0; n < kKeyTiles; ++n) {
#pragma unroll
      for (int e = 0; e < 2 * kHalves; ++e) {
        const int j = n * 8 + e % 2;
        score[n][e] = place[e / 2].Score(args, b, first + of_lane + j, own[j],
                                         score[n][e] * static_cast<float>(attr_scale));
      }
    }
  }

  /// The same for keys that every row sees (SeesAll).
  AICF_DEVICE void ScoreSeen(const Args& args, int b, int first, int lane) {
#pragma unroll
    for (int n = 0; n < kKeyTiles; ++n) {
#pragma unroll
      for (int e = 0; e < 2 * kHalves; ++e) {
        const int j = first + n * 8 + lane % 4 * 2 + e % 2;
        score[n][e] =
            place[e / 2].ScoreSeen(args, b, j, score[n][e] * static_cast<float>(attr_scale));
      }
    }
  }

  /// Turns scores into weights, and scales older sums to the new maximum. Four lanes share a row.
  AICF_DEVICE void Soften() {
#pragma unroll
    for (int half = 0; half < kHalves; ++half) {
      float most = max[half];
#pragma unroll
      for (int n = 0; n < kKeyTiles; ++n) {
#pragma unroll
        for (int e = half * 2; e < half * 2 + 2; ++e) {
          most = score[n][e] > most ? score[n][e] : most;
        }
      }
#pragma unroll
      for (int step = 1; step < 4; step *= 2) {
        const float other = ShuffleXor(most, step);
        most = other > most ? other : most;
      }
      // While every score is -inf, 0 takes the place of the maximum: the exponents are then -inf,
      // whose exponential is 0, instead of -inf - -inf, which is NaN.
      const float base = most == NoScore() ? 0.0f : most;
      const float shrink = most == max[half] ? 1.0f : WeightOf(max[half] - base);
      max[half] = most;
      float added = 0;
#pragma unroll
      for (int n = 0; n < kKeyTiles; ++n) {
#pragma unroll
        for (int e = half * 2; e < half * 2 + 2; ++e) {
          score[n][e] = WeightOf(score[n][e] - base);
          added += score[n][e];
        }
      }
      total[half] = total[half] * shrink + added;
#pragma unroll
      for (int n = 0; n < kValueTiles; ++n) {
        sum[n][half * 2] *= shrink;
        sum[n][half * 2 + 1] *= shrink;
      }
    }
  }

  AICF_DEVICE void AddValues(const tile_t* values, int lane) {
#pragma unroll
    for (int j = 0; j < kStep; j += kDepth) {
      unsigned a[4];
      Weights<tile_t>(a, score, j / 8);
#pragma unroll
      for (int n = 0; n < kValueTiles; ++n) {
        unsigned b[2];
        LoadValues(b, values + j * kValuePitch + n * 8, lane);
        MultiplyFragments(sum[n], a, b);
      }
    }
  }

  /// Numbers that each lane saves for another group of warps to add (Save, Add).
  static constexpr int kSaved = kValueTiles * 4 + 4;

  AICF_DEVICE void Save(float* to, int lane) const {
#pragma unroll
    for (int n = 0; n < kValueTiles; ++n) {
#pragma unroll
      for (int e = 0; e < 4; ++e) to[(n * 4 + e) * 32 + lane] = sum[n][e];
    }
#pragma unroll
    for (int half = 0; half < kHalves; ++half) {
      to[(kValueTiles * 4 + half) * 32 + lane] = max[half];
      to[(kValueTiles * 4 + 2 + half) * 32 + lane] = total[half];
    }
  }

  /// Adds what another group saved of the same rows, after scaling both to the larger maximum.
  AICF_DEVICE void Add(const float* from, int lane) {
#pragma unroll
    for (int half = 0; half < kHalves; ++half) {
      const float other = from[(kValueTiles * 4 + half) * 32 + lane];
      const float most = other > max[half] ? other : max[half];
      const float base = most == NoScore() ? 0.0f : most;
      const float mine = WeightOf(max[half] - base), theirs = WeightOf(other - base);
      max[half] = most;
      total[half] = total[half] * mine + from[(kValueTiles * 4 + 2 + half) * 32 + lane] * theirs;
#pragma unroll
      for (int n = 0; n < kValueTiles; ++n) {
#pragma unroll
        for (int e = half * 2; e < half * 2 + 2; ++e) {
          sum[n][e] = sum[n][e] * mine + from[(n * 4 + e) * 32 + lane] * theirs;
        }
      }
    }
  }

  AICF_DEVICE void Store(const Args& args, const Tile& tile, int row, int lane) {
#pragma unroll
    for (int half = 0; half < kHalves; ++half) {
      float all = total[half] + ShuffleXor(total[half], 1);
      all += ShuffleXor(all, 2);
      const int r = row + lane / 4 + half * 8;
      if (!tile.Holds(r)) continue;
      const float factor = all == 0 ? 0.0f : 1.0f / all;
      const index_t at = tile.Offset<Out0>(r);
#pragma unroll
      for (int n = 0; n < kValueTiles; ++n) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const int column = n * 8 + lane % 4 * 2 + e;
          if (column >= kValueHead) continue;
          StoreElement<Out0>(args.out[0], at + column * Out0::stride(3),
                             sum[n][half * 2 + e] * factor);
        }
      }
      if (lane % 4 == 0) StoreLogSum(args, tile, r, max[half], all);
    }
  }
};

}  // namespace aicf
