// How the operands of cuda.attention.hopper get into shared memory: one thread requests boxes of
// them from the copy engine. A block of keys is one box, or several where its pages are smaller.
#pragma once

#include "attention/hopper_tile.cuh"
#include "common/shared_words.cuh"
#include "common/tma.cuh"

namespace aicf {

constexpr int kBoxKeys = attr_pages && kPage < kTileKeys ? kPage : kTileKeys;
constexpr int kBoxes = kTileKeys / kBoxKeys;
static_assert(kTileKeys % kBoxKeys == 0 && (!attr_pages || kPage % kBoxKeys == 0),
              "no box reaches from one page into the next");
static_assert(kBoxKeys % 8 == 0, "every box begins where the swizzle does");
static_assert(kBoxes <= 32, "a word tells which boxes of a block are absent");

/// The coordinate of index `at` along an axis: 0 where the operand repeats along it, because the
/// tensor map then has a single element there.
template <class View>
AICF_DEVICE int CoordinateOf(int axis, int at) {
  return View::stride(axis) == 0 ? 0 : at;
}

AICF_DEVICE void FetchQueries(const Args& args, const SharedLayout& shared, const TileWalk& tile,
                              int stage) {
  const int b = CoordinateOf<In0>(0, tile.b), h = CoordinateOf<In0>(1, tile.h);
  const int row = static_cast<int>(tile.first / kPacked);
  const unsigned full = shared.QueryFull(stage);
  BarrierArriveExpect(full, kQueryBytes);
#pragma unroll
  for (int i = 0; i < kHeadPanels; ++i) {
    const unsigned to = shared.Query(stage) + i * kRows * kLineBytes;
    if constexpr (kPack)
      CopyBox(to, args.map[0], full, i * kLine, 0, row, h, b);
    else
      CopyBox(to, args.map[0], full, i * kLine, row, h, b);
  }
}

/// Block number `block` of the keys of one tile; the request has `valid` keys.
struct FetchedBlock {
  const Args& args;
  const TileWalk& tile;
  int block, valid;

  AICF_DEVICE int First(int box) const { return block * kTileKeys + box * kBoxKeys; }
  /// The page that has a box's keys; negative if none of them is valid or the page is
  /// outside the pool.
  AICF_DEVICE int Page(int box) const {
    return First(box) < valid ? static_cast<int>(PageOfKey<In1>(args, tile.b, First(box))) : -1;
  }
  /// A bit for each box in no page of the pool.
  AICF_DEVICE unsigned Absent() const {
    unsigned absent = 0;
    for (int box = 0; box < kBoxes; ++box) {
      if (Page(box) < 0) absent |= 1u << box;
    }
    return absent;
  }

  /// Requests all panels of a box. A box that is in no page of the pool is requested at a
  /// coordinate past the last page, so that it arrives as zeros.
  template <class View, int kPanels>
  AICF_DEVICE void Box(const void* map, unsigned to, unsigned barrier, int box) const {
    const int h = CoordinateOf<View>(1, tile.KeyHead());
    int row = First(box), b = CoordinateOf<View>(0, tile.b);
    if constexpr (attr_pages) {
      constexpr int kPastAll = View::stride(0) == 0 ? 1 : static_cast<int>(View::extent(0));
      const int page = Page(box);
      b = page < 0 ? kPastAll : CoordinateOf<View>(0, page);
      row %= kPage;
    }
#pragma unroll
    for (int i = 0; i < kPanels; ++i) {
      CopyBox(to + (i * kTileKeys + box * kBoxKeys) * kLineBytes, map, barrier, i * kLine, row, h,
              b);
    }
  }

  template <class View, int kPanels>
  AICF_DEVICE void All(const void* map, unsigned to, unsigned barrier) const {
    for (int box = 0; box < kBoxes; ++box) Box<View, kPanels>(map, to, barrier, box);
  }

  /// Announces at the round's barrier the bytes of this block's keys and, with `values`, of a block
  /// of values. The word of absent boxes is written before the thread arrives at the barrier, so
  /// that the consumers see it.
  AICF_DEVICE void AnnounceKeys(const SharedLayout& shared, int round, bool values) const {
    if constexpr (attr_pages) StoreWord(shared.Absent(round), Absent());
    BarrierArriveExpect(shared.Full(round), kKeyBytes + (values ? kValueBytes : 0));
  }
  AICF_DEVICE void Keys(const SharedLayout& shared, int round) const {
    All<In1, kHeadPanels>(args.map[1], shared.Keys(round), shared.Full(round));
  }
  AICF_DEVICE void Values(const SharedLayout& shared, int round) const {
    All<In2, kValuePanels>(args.map[2], shared.Values(round), shared.Full(round));
  }
};

}  // namespace aicf
