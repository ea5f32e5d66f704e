// The moments of A's rows (GemmAttrs::moments_epsilon), which the consumers of a Hopper product sum
// up from the stages that they multiply, while the tensor cores are at work: two neighbouring
// threads have a row, half of each stage's line each. The sums of one tile become mean and scale,
// which lie in the consumer's shared memory for its epilogue; a row's are the concern of one warp.
//
// The variance is the mean of the squares less the square of the mean. That loses digits where the
// mean is many times the deviation, but elements of 16 bits have lost more there.
#pragma once

#include "common/block.cuh"
#include "common/hopper_stage.cuh"
#include "common/shared_words.cuh"

namespace aicf {

struct RowMoments {
  static constexpr bool kSeen = true;
  static constexpr bool kStored = attr_stores_moments != 0;
  static constexpr int kRaws = 2;
  static constexpr int kFloats = 2 * kConsumerRows;  ///< of a consumer
  static_assert(!kSwap && kSplit == 1, "a consumer has whole rows of A");
  static_assert(sizeof(tile_t) == 2 && TileA::kAlongK, "lines of 16-bit terms");
  static constexpr int kPiece = 8;                     ///< terms of one access
  static constexpr int kPieces = kTileK / kPiece / 2;  ///< of a thread in a stage
  static_assert(kPieces == 4, "half a line of 128 bytes");

  // Of terms at even and at odd places: additions that need not wait for each other.
  float sum[kBlocksOfRows][2], squares[kBlocksOfRows][2];

  AICF_DEVICE void Begin() {
#pragma unroll
    for (int i = 0; i < kBlocksOfRows; ++i)
      sum[i][0] = sum[i][1] = squares[i][0] = squares[i][1] = 0;
  }
  /// Adds a stage of the rows' terms. `tile` is A's part of it from the consumer's first row on.
  /// Behind the last term there are zeros, and which terms a thread has does not matter.
  AICF_DEVICE void AddStage(unsigned tile) {
#pragma unroll
    for (int i = 0; i < kBlocksOfRows; ++i) {
      const int row = i * 64 + Row();
      const unsigned line = tile + row * kRowBytes + Half() * (kRowBytes / 2);
      unsigned words[kPieces][4];
      // Neighbouring rows begin elsewhere, so that a warp reads all banks at once.
#pragma unroll
      for (int j = 0; j < kPieces; ++j) LoadPiece(line + (j ^ row % kPieces) * 16, words[j]);
#pragma unroll
      for (int j = 0; j < kPieces; ++j) AddPiece(i, words[j]);
    }
  }
  /// Puts mean and scale of the consumer's rows into its memory, for the warp that has them.
  AICF_DEVICE void Finish(float* memory) {
    constexpr float kPart = 1.0f / static_cast<float>(kLength);
#pragma unroll
    for (int i = 0; i < kBlocksOfRows; ++i) {
      const float mean = OfRow(sum[i]) * kPart;
      const float variance = fmaxf(fmaf(-mean, mean, OfRow(squares[i]) * kPart), 0.0f);
      const float scale = 1.0f / sqrtf(variance + static_cast<float>(attr_moments_epsilon));
      if (Half() == 0)
        *reinterpret_cast<Pack<float, 2>*>(memory + 2 * (i * 64 + Row())) = {mean, scale};
    }
    __syncwarp();
  }
  /// Stores the moments of a tile's rows, once: its columns are the first ones.
  template <class Walk>
  AICF_DEVICE void Store(const Args& args, const Walk& walk, int row0, const float* memory) const {
    if constexpr (kStored) {
      if (walk.column0 != 0 || Half() != 0) return;
#pragma unroll
      for (int i = 0; i < kBlocksOfRows; ++i) {
        const int row = i * 64 + Row();
        const index_t m = walk.row0 + row0 + row;
        if (m < kM) StoreRow(args, m, walk.batch, memory + 2 * row);
      }
    }
  }

 private:
  static AICF_DEVICE int Row() { return static_cast<int>(threadIdx.x) % 128 / 2; }
  static AICF_DEVICE int Half() { return static_cast<int>(threadIdx.x) % 2; }
  static AICF_DEVICE float OfRow(const float (&parts)[2]) {
    const float own = parts[0] + parts[1];
    return own + ShuffleXor(own, 1);
  }

  AICF_DEVICE void AddPiece(int i, const unsigned (&words)[4]) {
#pragma unroll
    for (const unsigned word : words) {
#pragma unroll
      for (int side = 0; side < 2; ++side) {
        const float x = Widen(tile_t{static_cast<u16>(word >> (16 * side))});
        sum[i][side] += x;
        squares[i][side] = fmaf(x, x, squares[i][side]);
      }
    }
  }
  static AICF_DEVICE void StoreRow(const Args& args, index_t m, index_t batch,
                                   const float* moments) {
    const Point at = kRowsInner ? OutputPoint(m, 0, batch) : OutputPoint(0, m, batch);
    index_t offset = MomentsView::kOffset;
#pragma unroll
    for (int d = 0; d < kAxisN; ++d)
      offset += static_cast<index_t>(at.c[d]) * MomentsView::stride(d);
    float* to = static_cast<float*>(args.out[kOutputs - 1]) + offset;
    to[0] = moments[0];
    to[MomentsView::stride(kAxisN)] = moments[1];
  }
};

}  // namespace aicf
