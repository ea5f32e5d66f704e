// How attention/decode.cuh looks up in which pages of a pool a request's keys lie.
#pragma once

#include "attention/keys.cuh"

namespace aicf {

/// The pages of a request. A short table is held by the lanes of each warp, so that it is on its
/// way while the request's length still is; of a long one entries are looked up when they are
/// needed.
class PageTable {
 public:
  AICF_DEVICE PageTable(const Args& args, int b) : args_(args), b_(b) {
    if constexpr (kHolds) {
#pragma unroll
      for (int i = 0; i < kOfLane; ++i) {
        const int page = static_cast<int>(threadIdx.x) + i * 32;
        held_[i] = page < kPages ? Look(page) : -1;
      }
    }
  }
  /// The entry of the page that has key `key`, or without a table the request; -1 unless `there`.
  /// Called by all lanes of a warp together, each with a key of its own.
  AICF_DEVICE int Of(int key, bool there) const {
    if constexpr (kTable < 0) return there ? b_ : -1;
    // Keys are not below 0, and divisions without a sign are shorter.
    const int page = there ? static_cast<int>(static_cast<unsigned>(key) / kPage) : 0;
    if constexpr (!kHolds) return there ? Look(page) : -1;
    int entry = -1;
#pragma unroll
    for (int i = 0; i < kOfLane; ++i) {
      const int held = __shfl_sync(0xffffffffu, held_[i], page % 32);
      entry = page / 32 == i ? held : entry;
    }
    return there ? entry : -1;
  }

 private:
  static constexpr int kPages = kTable < 0 ? 1 : static_cast<int>(TableView::extent(1));
  static constexpr bool kHolds = kTable >= 0 && kPages <= 128;
  static constexpr int kOfLane = kHolds ? MaxOf(1, (kPages + 31) / 32) : 1;

  AICF_DEVICE int Look(int page) const {
    const index_t at = TableView::kOffset + b_ * TableView::stride(0) + page * TableView::stride(1);
    return static_cast<const i32*>(args_.in[MaxOf(0, kTable)])[at];
  }

  const Args& args_;
  const int b_;
  int held_[kOfLane];
};

}  // namespace aicf
