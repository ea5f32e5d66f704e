// The tiles of keys and values of one warp of attention/decode.cuh: a ring of kStages in shared
// memory that the warp's lanes fill by themselves, in pieces of 16 bytes.
#pragma once

#include "attention/decode_append.cuh"
#include "attention/decode_pages.cuh"
#include "attention/warp_rows.cuh"

namespace aicf {

constexpr int kPiece = 8;  ///< elements of 16 bytes
constexpr int kKeyTile = kStep * kHeadPitch, kValueTile = kStep * kValuePitch;
constexpr int kRing = kStages * (kKeyTile + kValueTile);  ///< of a warp, in elements
static_assert(kHead % kPiece == 0 && kValueHead % kPiece == 0, "rows are whole pieces");
static_assert(kDynamicShared >= 2 * (kRows * kHeadPitch + kNewRows + kWarps * kRing),
              "the launch has the shared memory");

/// One bit for each key of a tile: whether the key is before the end and in a page of the pool.
struct PresentKeys {
  u32 bits;
  AICF_DEVICE bool operator[](int key) const { return bits >> key & 1; }
  AICF_DEVICE PresentKeys operator+(int key) const { return {bits >> key}; }
};

/// How a tile holds rows of operand V: kLength elements of each, padded to kWidth, kPitch apart.
template <class V, int kInput, int kLength_, int kWidth_, int kPitch_>
struct RowsOf {
  static constexpr int kLength = kLength_, kWidth = kWidth_, kPitch = kPitch_;
  /// Requests a copy of the piece at offset `at` of the tile's key head, or zeros if it is not
  /// valid.
  static AICF_DEVICE void Ask(const Args& args, const Tile& tile, tile_t* to, index_t at,
                              bool valid) {
    const tile_t* from = static_cast<const tile_t*>(args.in[kInput]) + V::kOffset;
    CopyAsync<16>(to, from + tile.g * V::stride(1) + at, valid);
  }
};
typedef RowsOf<In1, 1, kHead, kHeadWidth, kHeadPitch> KeyRows;
typedef RowsOf<In2, 2, kValueHead, kValueWidth, kValuePitch> ValueRows;
/// Whether the offset of a value in v is always that of its key in k.
constexpr bool kLieAlike =
    kHead == kValueHead && In1::stride(0) == In2::stride(0) && In1::stride(2) == In2::stride(2);

class WarpTiles {
 public:
  /// The request has no visible keys from `end` on; the warp's part ends at key `last`. A new row
  /// of the request has its place at `place`.
  AICF_DEVICE WarpTiles(const Args& args, const Tile& tile, const PageTable& table, int end,
                        int last, const NewPlace& place)
      : args_(args),
        tile_(tile),
        table_(table),
        end_(end),
        last_(last),
        place_(place),
        ring_(reinterpret_cast<tile_t*>(DynamicShared()) + kRows * kHeadPitch + kNewRows +
              threadIdx.y * kRing) {}

  /// Looks up the pages of the first tiles, all at once because that takes no longer than one.
  AICF_DEVICE void Find(int first) {
#pragma unroll
    for (int s = 0; s < kStages; ++s) pages_[s] = PageOf(first + s * kStep);
  }
  /// Requests the first kStages - 1 tiles, in as many groups of copies. REQUIRES: Find was called.
  /// A step that appends calls MarkFirst when its place is known.
  AICF_DEVICE void Begin(int first) {
#pragma unroll
    for (int s = 0; s < kStages - 1; ++s) Load(first + s * kStep, s, pages_[s]);
    next_ = first + (kStages - 1) * kStep;
    stage_ = kStages - 1;
    page_ = pages_[kStages - 1];
  }
  /// Looks for the new row's key among those of the first kStages - 1 tiles.
  AICF_DEVICE void MarkFirst(int first) const {
#pragma unroll
    for (int s = 0; s < kStages - 1; ++s) MarkNew(first + s * kStep, s, pages_[s]);
  }
  /// Requests the next tile, into the stage of the one that was read last.
  AICF_DEVICE void Next() {
    Load(next_, stage_, page_);
    if constexpr (kAppends) MarkNew(next_, stage_, page_);
    next_ += kStep;
    stage_ = stage_ + 1 == kStages ? 0 : stage_ + 1;
    page_ = PageOf(next_);  // the load has until the next turn to arrive
  }
  AICF_DEVICE const tile_t* Keys(int stage) const { return ring_ + stage * kKeyTile; }
  AICF_DEVICE const tile_t* Values(int stage) const {
    return ring_ + kStages * kKeyTile + stage * kValueTile;
  }
  AICF_DEVICE PresentKeys Present(int stage) const { return {Found()[stage]}; }
  /// Puts the new row into the tile, if that has its key: the pool may not have it yet. REQUIRES:
  /// the tile is there for all lanes, and so is the new row for all threads of the block.
  AICF_DEVICE void PutNewRow(int stage) const {
    if constexpr (kAppends) {
      u32 keys = New()[stage];
      if (keys == 0) return;
      for (; keys != 0; keys &= keys - 1) {
        const int row = __ffs(static_cast<int>(keys)) - 1;
        PutRow(ring_ + stage * kKeyTile + row * kHeadPitch, NewKey(), kHead);
        PutRow(ring_ + kStages * kKeyTile + stage * kValueTile + row * kValuePitch, NewValue(),
               kValueHead);
      }
      __syncwarp();
    }
  }

 private:
  static AICF_DEVICE u32* Found() {
    __shared__ u32 found[kWarps][kStages];
    return found[threadIdx.y];
  }
  /// One bit for each key of a tile: whether it is the new one.
  static AICF_DEVICE u32* New() {
    __shared__ u32 keys[kWarps][kStages];
    return keys[threadIdx.y];
  }
  static AICF_DEVICE void PutRow(tile_t* to, const tile_t* from, int length) {
#pragma unroll 1
    for (int d = static_cast<int>(threadIdx.x) * kPiece; d < length; d += 32 * kPiece) {
      *reinterpret_cast<NewPiece*>(to + d) = *reinterpret_cast<const NewPiece*>(from + d);
    }
  }
  static AICF_DEVICE int RowInPage(int key) { return static_cast<unsigned>(key) % kPage; }
  /// Index of key `first` + lane along the first axis of k and v; -1 where there is no such key.
  AICF_DEVICE int PageOf(int first) const {
    const int lane = static_cast<int>(threadIdx.x), key = first + lane;
    return table_.Of(key, lane < kStep && first < last_ && key < end_);
  }
  /// `page`: of the lane's key of the tile.
  AICF_DEVICE void MarkNew(int first, int stage, int page) const {
    if (first >= last_) return;
    const int row = RowInPage(first + static_cast<int>(threadIdx.x));
    const bool is_new = place_.Exists() && page == place_.page && row == place_.row;
    const u32 keys = __ballot_sync(0xffffffffu, is_new);
    if (threadIdx.x == 0) New()[stage] = keys;
  }
  AICF_DEVICE void Load(int first, int stage, int page) {
    if (first < last_) {
      const bool there = page >= 0 && page < In1::extent(0);
      const u32 found = __ballot_sync(0xffffffffu, there);
      if (threadIdx.x == 0) Found()[stage] = found;
      tile_t* const keys = ring_ + stage * kKeyTile;
      tile_t* const values = ring_ + kStages * kKeyTile + stage * kValueTile;
      const int key = first + static_cast<int>(threadIdx.x),
                row = kTable < 0 ? key : RowInPage(key);
      const index_t key_at = there ? RowAt<In1>(page, row) : 0;
      if constexpr (kLieAlike) {
        Copy<KeyRows, ValueRows>(keys, values, key_at, found);
      } else {
        Copy<KeyRows>(keys, keys, key_at, found);
        Copy<ValueRows>(values, values, there ? RowAt<In2>(page, row) : 0, found);
      }
    }
    CopyCommit();
  }
  template <class V>
  static AICF_DEVICE index_t RowAt(int page, int row) {
    return page * V::stride(0) + row * V::stride(2);
  }
  /// Requests the rows of a tile. Lane r's `at` is the offset of row r, and bit r of `found` says
  /// whether there is one. Missing rows, and the padding behind rows, become 0. Rows of `Second`,
  /// if any, have the same offsets in another operand.
  template <class First, class... Second>
  AICF_DEVICE void Copy(tile_t* to, tile_t* to_second, index_t at, u32 found) const {
    constexpr int kPieces = First::kWidth / kPiece;
    static_assert(kStep * kPieces % 32 == 0, "every lane has as many pieces");
#pragma unroll
    for (int i = 0; i < kStep * kPieces / 32; ++i) {
      // Where a turn of the warp takes whole rows, a lane's column stays.
      constexpr bool kWholeRows = 32 % kPieces == 0;
      const unsigned lane = threadIdx.x, p = lane + i * 32;
      const int row = kWholeRows ? lane / kPieces + i * (32 / kPieces) : p / kPieces;
      const int column = (kWholeRows ? lane : p) % kPieces * kPiece;
      const index_t row_at = __shfl_sync(0xffffffffu, at, row);
      const bool valid = (found >> row & 1) != 0 && column < First::kLength;
      First::Ask(args_, tile_, to + row * First::kPitch + column, row_at + column, valid);
      (Second::Ask(args_, tile_, to_second + row * Second::kPitch + column, row_at + column, valid),
       ...);
    }
  }

  const Args& args_;
  const Tile& tile_;
  const PageTable& table_;
  const int end_, last_;
  const NewPlace& place_;
  tile_t* const ring_;
  int next_ = 0, stage_ = 0;
  int pages_[kStages];  ///< of the first tiles
  /// Page of the lane's key of the next tile. Only Load checks it: an earlier check would make the
  /// warp wait for the look-up.
  int page_ = -1;
};

}  // namespace aicf
