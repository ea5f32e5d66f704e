// The rows that attention/decode.cuh appends where attr_append_pairs is not 0: the new key and the
// new value of a request, and its queries, which are turned like the key. Every block turns what
// it reads itself. One block of each key head also stores that head's new rows. Other
// blocks may read their places in the pools before or after that, and replace what they read.
#pragma once

#include "attention/warp_rows.cuh"

namespace aicf {

constexpr bool kAppends = attr_append_pairs > 0;
constexpr int kPairs = static_cast<int>(attr_append_pairs);
constexpr int kTurned = 8;  ///< elements that a thread turns together: 16 bytes of a head
/// Elements of shared memory for a new key and a new value, behind the queries.
constexpr int kNewRows = kAppends ? kHeadPitch + kValuePitch : 0;

AICF_DEVICE tile_t* NewKey() {
  return reinterpret_cast<tile_t*>(DynamicShared()) + kRows * kHeadPitch;
}
AICF_DEVICE tile_t* NewValue() { return NewKey() + kHeadPitch; }

/// Where a request's new row goes, if that is in the pools.
struct NewPlace {
  int page = -1, row = -1;

  AICF_DEVICE bool Exists() const {
    return page >= 0 && page < In1::extent(0) && row >= 0 && row < kPage;
  }

  AICF_DEVICE void Load(const Args& args, int b) {
    const i32* at = static_cast<const i32*>(args.in[MaxOf(0, kPlaces)]) + PlacesView::kOffset +
                    b * PlacesView::stride(0);
    page = at[0];
    row = at[PlacesView::stride(2)];
  }
  AICF_DEVICE bool operator==(const NewPlace& o) const { return page == o.page && row == o.row; }
};

typedef Pack<tile_t, kTurned> NewPiece;

/// Where operand `input`, of view V, has the element `at` elements behind its first. The compiler
/// computes that number before this point.
template <class V>
AICF_DEVICE const typename V::S* Held(const Args& args, int input, index_t at) {
  HoldIndex(at);
  return static_cast<const typename V::S*>(args.in[input]) + V::kOffset + at;
}

/// Loads kTurned cosines or sines in pieces as wide as their layout allows.
template <class V>
AICF_DEVICE void LoadAngles(const typename V::S* from, float (&x)[kTurned]) {
  typedef typename V::S S;
  constexpr int N = PieceOf<S>(kTurned, V::run(2));
#pragma unroll
  for (int j = 0; j < kTurned; j += N) {
    const Pack<S, N> pack = *reinterpret_cast<const Pack<S, N>*>(from + j * V::stride(2));
#pragma unroll
    for (int i = 0; i < N; ++i) x[j + i] = Widen(pack.v[i]);
  }
}

/// What a thread does to put the turned queries, the turned new key and the new value into shared
/// memory, with zeros where the tile has no rows and behind heads: one piece of a row, or two that
/// are turned with each other. With `stores` the new rows are also put in their place in the pools.
/// Nothing asks for it before the rows are there: their loads would wait for its own. Made before
/// the wait for the preceding kernel, so that addresses are there when it ends.
class NewPart {
 public:
  /// Parts of a head are pairs of pieces that turn, then single pieces. The key comes behind the
  /// queries, and the value begins with a warp of its own, because a warp with both would wait for
  /// their loads one after the other.
  static constexpr int kTurning = kPairs / kTurned;
  static constexpr int kOfHead = kTurning + (kHeadWidth - 2 * kPairs) / kTurned;
  static constexpr int kFirstValue = ((kRows + 1) * kOfHead + 31) / 32 * 32;
  static constexpr int kAll = kFirstValue + kValueHead / kTurned;

  AICF_DEVICE NewPart(const Args& args, const Tile& tile, bool stores, int i) {
    if (i >= kFirstValue) {
      if (i < kAll) FindValue(args, tile, stores, (i - kFirstValue) * kTurned);
    } else if (i < (kRows + 1) * kOfHead) {
      FindPiece(args, tile, stores, i / kOfHead, i % kOfHead);
    }
  }
  AICF_DEVICE void Move(const NewPlace& place) const {
    if (shared_ == nullptr) return;
    NewPiece low = {}, high = {};
    if (turns_) {
      if (from_ != nullptr) Turn(low, high);
    } else if (from_ != nullptr) {
      low = Read(0);
    }
    Write(shared_, low);
    if (turns_) Write(shared_ + kPairs, high);
    if (pool_ == nullptr || !place.Exists()) return;
    tile_t* const to = pool_ + place.page * page_stride_ + place.row * row_stride_;
    Write(to, low);
    if (turns_) Write(to + kPairs, high);
  }

 private:
  /// Part `part` of row r: a query, or behind kRows queries the new key.
  AICF_DEVICE void FindPiece(const Args& args, const Tile& tile, bool stores, int r, int part) {
    const bool is_key = r == kRows;
    turns_ = part < kTurning;
    const int d = turns_ ? part * kTurned : 2 * kPairs + (part - kTurning) * kTurned;
    shared_ =
        is_key ? NewKey() + d : reinterpret_cast<tile_t*>(DynamicShared()) + r * kHeadPitch + d;
    if (d >= kHead || !(is_key || tile.Holds(r))) return;
    if (is_key) {
      from_ = NewRow<NewKeysView>(args, tile, MaxOf(0, kNewKeys), d);
      if (stores) StoreTo<NextKeysView>(args.out[kAppends ? 1 : 0], tile, d);
    } else {
      from_ = Held<In0>(args, 0, tile.Offset<In0>(r) - In0::kOffset + d);
    }
    if (!turns_) return;
    cosine_ = Held<CosineView>(args, MaxOf(0, kCosine),
                               tile.b * CosineView::stride(0) + d * CosineView::stride(2));
    sine_ = Held<SineView>(args, MaxOf(0, kSine),
                           tile.b * SineView::stride(0) + d * SineView::stride(2));
  }
  AICF_DEVICE void FindValue(const Args& args, const Tile& tile, bool stores, int d) {
    shared_ = NewValue() + d;
    from_ = NewRow<NewValuesView>(args, tile, MaxOf(0, kNewValues), d);
    if (stores) StoreTo<NextValuesView>(args.out[kAppends ? 2 : 0], tile, d);
  }
  /// Element d of the row of operand V of the tile's request and key head.
  template <class V>
  static AICF_DEVICE const tile_t* NewRow(const Args& args, const Tile& tile, int input, int d) {
    return Held<V>(args, input, tile.b * V::stride(0) + tile.g * V::stride(2) + d);
  }
  template <class V>
  AICF_DEVICE void StoreTo(void* pool, const Tile& tile, int d) {
    index_t at = tile.g * V::stride(1) + d;
    HoldIndex(at);
    pool_ = static_cast<tile_t*>(pool) + V::kOffset + at;
    page_stride_ = V::stride(0);
    row_stride_ = V::stride(2);
  }
  AICF_DEVICE NewPiece Read(int d) const { return *reinterpret_cast<const NewPiece*>(from_ + d); }
  static AICF_DEVICE void Write(tile_t* to, const NewPiece& piece) {
    *reinterpret_cast<NewPiece*>(to) = piece;
  }
  /// Turns a piece of a head with the one that lies kPairs behind it.
  AICF_DEVICE void Turn(NewPiece& low, NewPiece& high) const {
    const NewPiece first = Read(0), second = Read(kPairs);
    float cosine[kTurned], sine[kTurned];
    LoadAngles<CosineView>(cosine_, cosine);
    LoadAngles<SineView>(sine_, sine);
#pragma unroll
    for (int j = 0; j < kTurned; ++j) {
      const float x = Widen(first.v[j]), y = Widen(second.v[j]);
      low.v[j] = Narrow<tile_t>::Of(x * cosine[j] - y * sine[j]);
      high.v[j] = Narrow<tile_t>::Of(y * cosine[j] + x * sine[j]);
    }
  }

  bool turns_ = false;
  tile_t* shared_ = nullptr;      ///< where the piece goes; nullptr: the thread has none
  const tile_t* from_ = nullptr;  ///< nullptr: zeros
  const CosineView::S* cosine_ = nullptr;
  const SineView::S* sine_ = nullptr;
  tile_t* pool_ = nullptr;  ///< the piece of the pool's first row; nullptr: not stored
  index_t page_stride_ = 0, row_stride_ = 0;
};

/// The block's parts of new rows, of which a thread has one or several.
class NewRows {
 public:
  AICF_DEVICE NewRows(const Args& args, const Tile& tile, bool stores)
      : args_(args), tile_(tile), stores_(stores), first_(args, tile, stores, FirstPart()) {}
  AICF_DEVICE void Move(const NewPlace& place) const {
    first_.Move(place);
    if constexpr (kAppends && NewPart::kAll > kThreads) {
      for (int i = ThreadInBlock() + kThreads; i < NewPart::kAll; i += kThreads) {
        NewPart(args_, tile_, stores_, i).Move(place);
      }
    }
  }

 private:
  /// Beyond all parts where nothing is appended.
  static AICF_DEVICE int FirstPart() { return kAppends ? ThreadInBlock() : NewPart::kAll; }

  const Args& args_;
  const Tile& tile_;
  const bool stores_;
  NewPart first_;
};

AICF_DEVICE bool IsNew(const Args& args, const NewPlace& slot) {
  for (int b = 0; b < static_cast<int>(In0::extent(0)); ++b) {
    NewPlace place;
    place.Load(args, b);
    if (place == slot) return true;
  }
  return false;
}

/// Copies a pool, except for the rows in whose places new ones are stored, unless it is updated in
/// place.
template <class Old, class New>
AICF_DEVICE void CopyPool(const Args& args, const void* from, void* to) {
  const tile_t* const old_pool = static_cast<const tile_t*>(from) + Old::kOffset;
  tile_t* const new_pool = static_cast<tile_t*>(to) + New::kOffset;
  if (old_pool == new_pool) return;
  constexpr index_t kPieces = kHead / kTurned, kRowPieces = MaxOf(1, kKeyHeads * kPieces);
  constexpr index_t kSlots = kKeyHeads > 0 ? Old::extent(0) * kPage : 0;
  const index_t first = static_cast<index_t>(blockIdx.x) * kThreads + ThreadInBlock();
  for (index_t i = first; i < kSlots * kRowPieces; i += kGridX * kThreads) {
    const index_t slot = i / kRowPieces, g = i % kRowPieces / kPieces, d = i % kPieces * kTurned;
    NewPlace at;
    at.page = static_cast<int>(slot / kPage);
    at.row = static_cast<int>(slot % kPage);
    if (IsNew(args, at)) continue;
    *reinterpret_cast<NewPiece*>(new_pool + at.page * New::stride(0) + g * New::stride(1) +
                                 at.row * New::stride(2) + d) =
        *reinterpret_cast<const NewPiece*>(old_pool + at.page * Old::stride(0) +
                                           g * Old::stride(1) + at.row * Old::stride(2) + d);
  }
}

AICF_DEVICE void CopyPools(const Args& args) {
  if constexpr (kAppends) {
    CopyPool<In1, NextKeysView>(args, args.in[1], args.out[kAppends ? 1 : 0]);
    CopyPool<In2, NextValuesView>(args, args.in[2], args.out[kAppends ? 2 : 0]);
  }
}

}  // namespace aicf
