// How a block of cuda.blockgemm.decode brings its part of the rows of A into shared memory. The
// rows are cut into pieces of eight elements. A thread has as many of its pieces under way at once
// as it has registers for. If not all of them fit, rows that are normalised (kNormalizesRows) are
// read a second time.
#pragma once

#include "blockgemm/panel_sums.cuh"

namespace aicf {

constexpr int kSumsBytes = (kPartGroups * kM * 4 + 15) / 16 * 16;
/// Sums of the elements of A by group: place g * kM + m has that of row m over group g of this
/// block's part of k.
AICF_DEVICE float* SharedSums() { return reinterpret_cast<float*>(DynamicShared() + kXBytes); }

/// What a lane reads of the rows for chunk number `number_` of this block's part of k. Columns of
/// the fragments whose row is beyond the last one of A repeat that, since nobody reads their sums.
class StagedChunk {
 public:
  AICF_DEVICE StagedChunk(int lane, int number) : lane_(lane), t_(lane % 4), number_(number) {}

  AICF_DEVICE void Load(int set, u32 (&x)[kXParts][4]) const {
    const int column = lane_ / 4, m = MinOf(column % kRowColumns, kM - 1);
    const int run = number_ * Chunk::kRuns + column / kRowColumns * kSets + set;
    const char* from = SharedX() + m * kXParts * kXPitch + (run * 4 + t_) * 16;
#pragma unroll
    for (int part = 0; part < kXParts; ++part) LoadWords(from + part * kXPitch, x[part]);
  }
  AICF_DEVICE float Sum(int set, int g, int e) const {
    const int run = number_ * Chunk::kRuns + (kOneRow ? 2 * t_ + e : SlotOfPart(t_) * kSets + set);
    const int m = kOneRow ? 0 : MinOf(RowOfPart(t_, e), kM - 1);
    return SharedSums()[(run * kRunGroups + g) * kM + m];
  }

 private:
  const int lane_, t_, number_;
};

class StagedRows {
 public:
  static constexpr int kBytes = kXBytes + kSumsBytes;  ///< of shared memory, at its beginning

  AICF_DEVICE StagedRows(const Args& args, const Warp& warp)
      : a_(static_cast<const In0::S*>(args.in[0])),
        gain_(static_cast<const GainView::S*>(args.in[kGainInput])),
        chunk0_(warp.Chunk0()),
        warp_(warp) {}

  /// Loads the gain if registers suffice for all pieces. It is a constant, so this may come before
  /// the wait for the preceding kernel.
  AICF_DEVICE void HoldGain() {
    if constexpr (!kNormalizesRows || !kHoldsAll) return;
#pragma unroll
    for (int i = 0; i < kHeld; ++i) PieceAt(i).Load<GainView>(gain_, chunk0_, gains_[i]);
  }
  /// Brings the rows, after the wait for the preceding kernel. All threads of the block have to
  /// call this. `asked` is called when the thread has asked for its elements, if it holds them all.
  template <class Asked>
  AICF_DEVICE void Bring(const Asked& asked) {
    if constexpr (kHoldsAll) LoadFrom(0);
    asked();
    if constexpr (kNormalizesRows) AddSquares(warp_.Cells(0, 0));
    Store();
    __syncthreads();
  }
  /// What the warp multiplies in its step number `step`.
  AICF_DEVICE StagedChunk Chunk(int step) const {
    return StagedChunk(warp_.lane, warp_.FirstChunk() + step * kAlongK);
  }

 private:
  static constexpr int kAll = kPartRuns * 4 * kM;
  static constexpr int kCount = (kAll + kBlockX - 1) / kBlockX;
  static constexpr int kHeld = MinOf(kNormalizesRows ? 2 : 4, kCount);
  static constexpr bool kHoldsAll = kHeld == kCount;
  static constexpr float kEpsilon = static_cast<float>(attr_rms_epsilon);

  /// Finds the factor that normalises each row, from the sum of its squares. The threads of the
  /// block exchange their sums in `shared`, kWarps * kM floats that may be used for something else
  /// after the block's next barrier.
  AICF_DEVICE void AddSquares(float* shared) {
    float squares[kM] = {};
    ForEachHeld([&](int i, int number) {
      const Eight eight = PieceAt(number);
      float sum = 0.0f;
#pragma unroll
      for (int e = 0; e < 8; ++e) sum = fmaf(x_[i][e], x_[i][e], sum);
#pragma unroll
      for (int m = 0; m < kM; ++m) squares[m] = squares[m] + (eight.m == m ? sum : 0.0f);
    });
    const int warp = static_cast<int>(threadIdx.x) / 32;
#pragma unroll
    for (int m = 0; m < kM; ++m) {
#pragma unroll
      for (int s = 16; s > 0; s /= 2) squares[m] = squares[m] + ShuffleXor(squares[m], s);
      if (threadIdx.x % 32 == 0) shared[warp * kM + m] = squares[m];
    }
    __syncthreads();
#pragma unroll
    for (int m = 0; m < kM; ++m) {
      float all = 0.0f;
#pragma unroll
      for (int w = 0; w < kWarps; ++w) all = all + shared[w * kM + m];
      factor_[m] = 1.0f / sqrtf(all / static_cast<float>(kLength) + kEpsilon);
    }
  }

  /// Stores the rows into shared memory, along with the sums of their groups.
  AICF_DEVICE void Store() {
    ForEachHeld([&](int i, int number) {
      const Eight eight = PieceAt(number);
      if constexpr (kNormalizesRows) Normalize(i, eight);
      float sum[2];
      eight.Store(x_[i], sum);
      ForEachGroupSum(eight, sum, [&](int group, float of_group) {
        SharedSums()[group * kM + eight.m] = of_group;
      });
    });
  }

  static AICF_DEVICE Eight PieceAt(int number) {
    return Eight(number * kBlockX + static_cast<int>(threadIdx.x));
  }
  AICF_DEVICE void LoadFrom(int first) {
#pragma unroll
    for (int i = 0; i < kHeld; ++i) PieceAt(first + i).Load<In0>(a_, chunk0_, x_[i]);
  }
  /// Calls f(place, number) for every piece of the thread, while its elements are in x_[place].
  template <class F>
  AICF_DEVICE void ForEachHeld(const F& f) {
    if constexpr (kHoldsAll) {
#pragma unroll
      for (int i = 0; i < kHeld; ++i) f(i, i);
    } else {
      for (int first = 0; first < kCount; first += kHeld) {
        LoadFrom(first);
#pragma unroll
        for (int i = 0; i < kHeld; ++i) f(i, first + i);
      }
    }
  }
  AICF_DEVICE void Normalize(int i, const Eight& eight) {
    if constexpr (!kHoldsAll) eight.Load<GainView>(gain_, chunk0_, gains_[i]);
    float factor = factor_[0];
#pragma unroll
    for (int m = 1; m < kM; ++m) factor = eight.m == m ? factor_[m] : factor;
#pragma unroll
    for (int e = 0; e < 8; ++e) x_[i][e] = x_[i][e] * factor * gains_[i][e];
  }

  const In0::S* const a_;
  const GainView::S* const gain_;
  const index_t chunk0_;
  const Warp& warp_;
  float x_[kHeld][8], gains_[kNormalizesRows ? kHeld : 1][8];
  float factor_[kM];
};

}  // namespace aicf
