// The 64 rows of one warpgroup of cuda.attention.hopper: scores, weights and sums in registers, as
// the tensor cores leave them. A thread has two rows, `half` 0 and 1, eight apart; four threads
// share a row.
#pragma once

#include "attention/hopper_fetch.cuh"
#include "common/rounded_pair.cuh"

namespace aicf {

constexpr double kBitsPerNat = 1.4426950408889634;  ///< e^x = 2^(x * this)
/// Whether the scale is part of the exponent's factor. It can be where no score expression comes
/// between product and softmax, and where it is positive, so that the largest product has the
/// largest score.
constexpr bool kFoldsScale = !kHasScore && attr_scale > 0;
constexpr float kExponent =
    static_cast<float>(kFoldsScale ? attr_scale * kBitsPerNat : kBitsPerNat);
/// A row's maximum is raised only for a score that is further above it, that is, whose weight would
/// be above 2^8. Sums keep all their digits that way, and are seldom scaled.
constexpr float kSlack = 8.0f / kExponent;

/// The elements of the score operands that a thread needs for its two rows and one block of keys.
/// They are loaded while the tensor cores compute the products. Where both rows read the same
/// elements, these are held once.
struct ScoreOperands {
  static constexpr bool kRowsDiffer =
      kScoreMovesAlongRows || (kPacked > 1 && kScoreMovesAlongHeads);
  ::aicf::Score::Operands pair[kTileKeys / 8][kRowsDiffer ? 2 : 1][2];

  AICF_DEVICE const ::aicf::Score::Operands& At(int i) const {
    return pair[i / 4][kRowsDiffer ? i / 2 % 2 : 0][i % 2];
  }
};

struct GroupRows {
  float sum[kColumns / 2];
  float score[kTileKeys / 2];
  unsigned weight[kTileKeys / kDepth][4];
  float max[2], base[2], total[2], shrink[2];
  bool shrinks;  ///< whether any row of the warp has a shrink other than 1
  int row;       ///< of half 0, counted among the rows of the tile's head

  AICF_DEVICE void Reset(const TileWalk& tile, int row0) {
    row = static_cast<int>(tile.first) + row0;
#pragma unroll
    for (int i = 0; i < kColumns / 2; ++i) sum[i] = 0;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      max[half] = NoScore();
      base[half] = 0;
      total[half] = 0;
    }
  }

  AICF_DEVICE bool Holds(int half) const { return row + half * 8 < kTileRows; }
  /// Rows past the end are computed like the last one, and not stored.
  AICF_DEVICE int RowIn(int half) const {
    return Holds(half) ? row + half * 8 : static_cast<int>(kTileRows) - 1;
  }
  AICF_DEVICE int Query(int half) const { return RowIn(half) / kPacked; }
  AICF_DEVICE int Head(const TileWalk& tile, int half) const {
    return tile.h * kPacked + RowIn(half) % kPacked;
  }

  static AICF_DEVICE int KeyOf(int first, int i) {
    return first + static_cast<int>(threadIdx.x) % 4 * 2 + i / 4 * 8 + i % 2;
  }
  AICF_DEVICE void HoldScores() {
#pragma unroll
    for (int i = 0; i < kTileKeys / 2; ++i) HoldSum(score[i]);
  }
  AICF_DEVICE void HoldSums() {
#pragma unroll
    for (int i = 0; i < kColumns / 2; ++i) HoldSum(sum[i]);
#pragma unroll
    for (int i = 0; i < kTileKeys / kDepth; ++i) {
#pragma unroll
      for (int w = 0; w < 4; ++w) HoldOperand(weight[i][w]);
    }
  }

  /// Starts score = query * keys.
  AICF_DEVICE void StartScores(unsigned queries, unsigned keys) {
    ProductsBegin();
    AddScores(queries, keys);
  }
  /// Starts sum += weight * values.
  AICF_DEVICE void StartSums(unsigned values) {
    ProductsBegin();
    AddSums(values);
  }
  /// Starts both, in this order, as two groups of products that can be waited for one by one.
  AICF_DEVICE void StartScoresAndSums(unsigned queries, unsigned keys, unsigned values) {
    ProductsBegin();
    AddScores(queries, keys);
    AddSums(values);
  }

  AICF_DEVICE void AddScores(unsigned queries, unsigned keys) {
    const u64 first_a = OperandAt(queries, 16, kPatternBytes);
    const u64 first_b = OperandAt(keys, 16, kPatternBytes);
#pragma unroll
    for (int k = 0; k < kHeadSteps; ++k) {
      const int in_line = k % 4 * kDepth * 2;
      const u64 a = Further(first_a, k / 4 * kRows * kLineBytes + in_line);
      const u64 b = Further(first_b, k / 4 * kTileKeys * kLineBytes + in_line);
      Products<kTileKeys>::template Add<0, 0>(tile_t{}, score, a, b, k > 0);
    }
    ProductsCommit();
  }
  AICF_DEVICE void AddSums(unsigned values) {
    const u64 first = OperandAt(values, kTileKeys * kLineBytes, kPatternBytes);
#pragma unroll
    for (int k = 0; k < kTileKeys / kDepth; ++k) {
      const u64 b = Further(first, k * kDepth * kLineBytes);
      Products<kColumns>::template AddHeld<1>(tile_t{}, sum, weight[k], b, 1);
    }
    ProductsCommit();
  }

  /// Loads the operands of the scores for the block of keys from `first` on. kMasked: the block may
  /// reach past the last key.
  template <bool kMasked>
  AICF_DEVICE void Load(const Args& args, const TileWalk& tile, int first,
                        ScoreOperands& operands) const {
    if constexpr (kInputs == kCoreInputs) return;
#pragma unroll
    for (int half = 0; half < (ScoreOperands::kRowsDiffer ? 2 : 1); ++half) {
      const int h = Head(tile, half), i = Query(half);
#pragma unroll
      for (int g = 0; g < kTileKeys / 8; ++g) {
        ::aicf::Score::Operands(&pair)[2] = operands.pair[g][half];
        const int key = KeyOf(first, 4 * g);
        if constexpr (!kMasked) {
          ::aicf::Score::LoadPair(args, tile.b, h, i, key, pair[0], pair[1]);
        } else {
#pragma unroll
          for (int e = 0; e < 2; ++e) {
            pair[e] = {};
            if (key + e < kKeys) pair[e] = ::aicf::Score::Load(args, tile.b, h, i, key + e);
          }
        }
      }
    }
  }

  /// Turns products into scores, for the block of keys from `first` on. The score is -inf where a
  /// row does not see the key, or where the key is in one of the `absent` boxes.
  template <bool kMasked>
  AICF_DEVICE void Score(const ScoreOperands& operands, const Request& request,
                         const TileWalk& tile, int first, unsigned absent) {
    if constexpr (kFoldsScale && !kMasked) return;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int h = Head(tile, half), query = Query(half);
      const int begin = kMasked ? request.Begin(query) : 0, end = kMasked ? request.End(query) : 0;
#pragma unroll
      for (int i = half * 2; i < kTileKeys / 2; i += 4) {
#pragma unroll
        for (int e = i; e < i + 2; ++e) {
          const int key = KeyOf(first, e);
          bool seen = !kMasked || (key < end && (attr_window_left < 0 || key >= begin));
          if constexpr (kMasked && attr_pages) {
            seen = seen && (absent >> (e / 4 * 8 / kBoxKeys) & 1) == 0;
          }
          float own = score[e];
          if constexpr (!kFoldsScale) {
            const float product = score[e] * static_cast<float>(attr_scale);
            own = ::aicf::Score::Of(operands.At(e), product, tile.b, h, query, key);
          }
          score[e] = seen ? own : NoScore();
        }
      }
    }
  }

  /// What 2 is raised to for a score's weight. A score expression may give the lowest of all finite
  /// numbers, as masks do, and that may be the maximum, too. Multiplied by kExponent it would
  /// overflow, so the maximum is subtracted first.
  static AICF_DEVICE float Exponent(float score, float base) {
    if constexpr (kHasScore) return (score - base) * kExponent;
    return fmaf(score, kExponent, -base * kExponent);
  }

  /// Raises the maxima, turns scores to weights in f32, and adds them up.
  AICF_DEVICE void Soften() {
    float most[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      most[half] = NoScore();
#pragma unroll
      for (int i = half * 2; i < kTileKeys / 2; i += 4) {
        most[half] = fmaxf(most[half], fmaxf(score[i], score[i + 1]));
      }
      shrink[half] = 1.0f;
    }
    // As long as a row has seen no key, max + kSlack is -inf, and the first score that it sees
    // raises the maximum. A vote of the warp is faster than an exchange of maxima among the four
    // threads of a row, which is seldom needed.
    const bool above = most[0] > max[0] + kSlack || most[1] > max[1] + kSlack;
    shrinks = __any_sync(0xffffffffu, above);
    if (shrinks) RaiseMaxima(most);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float added = 0;
#pragma unroll
      for (int i = half * 2; i < kTileKeys / 2; i += 4) {
#pragma unroll
        for (int e = i; e < i + 2; ++e) {
          score[e] = Exp2Approx(Exponent(score[e], base[half]));
          added += score[e];
        }
      }
      total[half] = fmaf(total[half], shrink[half], added);
    }
  }

  /// `most` is the largest score among the thread's own.
  AICF_DEVICE void RaiseMaxima(const float (&most)[2]) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float largest = fmaxf(most[half], ShuffleXor(most[half], 1));
      largest = fmaxf(largest, ShuffleXor(largest, 2));
      const float old = max[half];
      if (largest > old + kSlack) max[half] = largest;
      // While every score is -inf, 0 takes the place of the maximum: the exponents are then -inf,
      // whose exponential is 0, instead of -inf - -inf, which is NaN.
      base[half] = max[half] == NoScore() ? 0.0f : max[half];
      shrink[half] = max[half] == old ? 1.0f : Exp2Approx(Exponent(old, base[half]));
    }
  }

  /// Waits for the sums and scales them to the current maxima. The exponentials are to overlap with
  /// the products. Each branch has a wait of its own because the compiler would otherwise wait
  /// before it has issued them.
  AICF_DEVICE void FinishSums() {
    HoldScores();
    if (shrinks) {
      ProductsWait<0>();
      HoldSums();
#pragma unroll
      for (int i = 0; i < kColumns / 2; ++i) sum[i] *= shrink[i / 2 % 2];
    } else {
      ProductsWaitInOtherBranch<0>();
      HoldSums();
    }
  }

  /// Rounds the weights to 16 bits, as the operand of the next products.
  AICF_DEVICE void RoundWeights() {
#pragma unroll
    for (int k = 0; k < kTileKeys / kDepth; ++k) {
#pragma unroll
      for (int w = 0; w < 4; ++w) {
        weight[k][w] = RoundedPair(tile_t{}, score[8 * k + 2 * w], score[8 * k + 2 * w + 1]);
      }
    }
  }
};

}  // namespace aicf
