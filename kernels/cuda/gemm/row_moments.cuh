// The moments of A's rows (GemmAttrs::moments_epsilon), which the consumers of a Hopper product sum
// up from the stages that they multiply, while the tensor cores are at work. Two neighbouring
// threads share a row, and each takes half of the row's line in every stage.
//
// The variance is the mean of the squares less the square of the mean. That loses digits where the
// mean is many times the deviation, but rounding the elements to 16 bits has lost more there.
#pragma once

#include "gemm/moment_rows.cuh"

namespace aicf {

struct RowMoments : MomentRows {
  static constexpr bool kReadsStages = true;
  static_assert(kOneWarp, "a consumer has whole rows of A");
  static_assert(sizeof(tile_t) == 2 && TileA::kAlongK, "lines of 16-bit terms");
  static constexpr int kPiece = 8;                     ///< terms of one access
  static constexpr int kPieces = kTileK / kPiece / 2;  ///< of a thread in a stage
  static_assert(kPieces == 4, "half a line of 128 bytes");

  // The terms at even and at odd places have sums of their own, so that the additions to one need
  // not wait for those to the other.
  float sum[kBlocks][2], squares[kBlocks][2];

  template <class Walk>
  AICF_DEVICE void Begin(const Args&, const Walk&, int) {
#pragma unroll
    for (int i = 0; i < kBlocks; ++i) sum[i][0] = sum[i][1] = squares[i][0] = squares[i][1] = 0;
  }
  /// Adds the rows' terms of one stage. `tile` is the stage's tile of A from the consumer's first
  /// row on. Past the last term it holds zeros. Pieces of a line are swizzled, but it does not
  /// matter which of the row's terms a thread adds.
  AICF_DEVICE void AddStage(unsigned tile) {
#pragma unroll
    for (int i = 0; i < kBlocks; ++i) {
      const int row = i * 64 + Row();
      const unsigned line = tile + row * kRowBytes + Half() * (kRowBytes / 2);
      unsigned words[kPieces][4];
      // Neighbouring rows begin with different pieces, so that a warp reads all banks at once.
#pragma unroll
      for (int j = 0; j < kPieces; ++j) LoadPiece(line + (j ^ row % kPieces) * 16, words[j]);
#pragma unroll
      for (int j = 0; j < kPieces; ++j) AddPiece(i, words[j]);
    }
  }
  /// Puts mean and scale of the consumer's rows into its memory.
  AICF_DEVICE void Finish(float* memory) {
    constexpr float kPart = 1.0f / static_cast<float>(kLength);
#pragma unroll
    for (int i = 0; i < kBlocks; ++i) {
      const float mean = OfRow(sum[i][0] + sum[i][1]) * kPart;
      const float of_squares = OfRow(squares[i][0] + squares[i][1]) * kPart;
      Put(memory, i * 64 + Row(), mean, fmaf(-mean, mean, of_squares));
    }
  }

 private:
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
};

}  // namespace aicf
