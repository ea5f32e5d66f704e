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

/// Where a request's new row goes. `page` is -1 if that is outside the pools.
struct NewPlace {
  int page = -1, row = -1;

  AICF_DEVICE void Load(const Args& args, int b) {
    const i32* at = static_cast<const i32*>(args.in[MaxOf(0, kPlaces)]) + PlacesView::kOffset +
                    b * PlacesView::stride(0);
    page = at[0];
    row = at[PlacesView::stride(2)];
    if (page < 0 || page >= In1::extent(0) || row < 0 || row >= kPage) page = -1;
  }
  AICF_DEVICE bool operator==(const NewPlace& o) const { return page == o.page && row == o.row; }
};

typedef Pack<tile_t, kTurned> NewPiece;

/// kTurned cosines or sines from pair d on, in pieces as wide as their layout allows.
template <class V>
AICF_DEVICE void LoadAngles(const Args& args, int input, int b, int d, float (&x)[kTurned]) {
  typedef typename V::S S;
  constexpr int N = PieceOf<S>(kTurned, V::run(2));
  const S* from =
      static_cast<const S*>(args.in[input]) + V::kOffset + b * V::stride(0) + d * V::stride(2);
#pragma unroll
  for (int j = 0; j < kTurned; j += N) {
    const Pack<S, N> pack = *reinterpret_cast<const Pack<S, N>*>(from + j * V::stride(2));
#pragma unroll
    for (int i = 0; i < N; ++i) x[j + i] = Widen(pack.v[i]);
  }
}

/// One head: where its elements are read, nullptr for a row of zeros, and where they are stored in
/// shared memory.
struct TurnedHead {
  const tile_t* from;
  tile_t* shared;

  AICF_DEVICE NewPiece Read(int d) const { return *reinterpret_cast<const NewPiece*>(from + d); }
  AICF_DEVICE void Write(int d, const NewPiece& piece) const {
    *reinterpret_cast<NewPiece*>(shared + d) = piece;
  }
};

/// A piece of a head and the one that it is turned with.
struct NewPair {
  NewPiece low, high;

  /// Turns the elements of the head from d on, and those kPairs behind them.
  AICF_DEVICE void Turn(const Args& args, const TurnedHead& head, int b, int d) {
    const NewPiece first = head.Read(d), second = head.Read(d + kPairs);
    float cosine[kTurned], sine[kTurned];
    LoadAngles<CosineView>(args, MaxOf(0, kCosine), b, d, cosine);
    LoadAngles<SineView>(args, MaxOf(0, kSine), b, d, sine);
#pragma unroll
    for (int j = 0; j < kTurned; ++j) {
      const float x = Widen(first.v[j]), y = Widen(second.v[j]);
      low.v[j] = Narrow<tile_t>::Of(x * cosine[j] - y * sine[j]);
      high.v[j] = Narrow<tile_t>::Of(y * cosine[j] + x * sine[j]);
    }
  }
};

/// The row of operand V of the tile's request and key head that is appended.
template <class V>
AICF_DEVICE const tile_t* NewRowOf(const Args& args, const Tile& tile, int input) {
  return static_cast<const tile_t*>(args.in[input]) + V::kOffset + tile.b * V::stride(0) +
         tile.g * V::stride(2);
}

/// Stores a piece of a new row in its place in a pool.
template <class V>
AICF_DEVICE void StoreNew(void* pool, const Tile& tile, const NewPlace& place, int d,
                          const NewPiece& piece) {
  tile_t* const row = static_cast<tile_t*>(pool) + V::kOffset + place.page * V::stride(0) +
                      tile.g * V::stride(1) + place.row * V::stride(2);
  *reinterpret_cast<NewPiece*>(row + d) = piece;
}

/// What the parts of TurnRows are: a head's are pairs of pieces that turn, then single pieces. The
/// key comes behind the queries, and the value begins with a warp of its own, because a warp with
/// both would wait for their loads one after the other.
struct NewParts {
  static constexpr int kTurning = kPairs / kTurned;
  static constexpr int kOfHead = kTurning + (kHeadWidth - 2 * kPairs) / kTurned;
  static constexpr int kFirstValue = ((kRows + 1) * kOfHead + 31) / 32 * 32;
  static constexpr int kAll = kFirstValue + kValueHead / kTurned;
};

/// Part `part` of row r: a query, or behind kRows queries the new key.
AICF_DEVICE void TurnPart(const Args& args, const Tile& tile, const NewPlace& place, bool stores,
                          int r, int part) {
  constexpr int kOut = kAppends ? 1 : 0;
  const bool is_key = r == kRows, turns = part < NewParts::kTurning;
  TurnedHead head = {nullptr, NewKey()};
  if (is_key) {
    head.from = NewRowOf<NewKeysView>(args, tile, MaxOf(0, kNewKeys));
  } else {
    head.shared = reinterpret_cast<tile_t*>(DynamicShared()) + r * kHeadPitch;
    if (tile.Holds(r)) head.from = static_cast<const tile_t*>(args.in[0]) + tile.Offset<In0>(r);
  }
  const int d = turns ? part * kTurned : 2 * kPairs + (part - NewParts::kTurning) * kTurned;
  const bool there = head.from != nullptr && d < kHead;
  NewPair pair = {};
  if (there && turns) pair.Turn(args, head, tile.b, d);
  if (there && !turns) pair.low = head.Read(d);
  head.Write(d, pair.low);
  if (turns) head.Write(d + kPairs, pair.high);
  if (!is_key || !there || !stores || place.page < 0) return;
  StoreNew<NextKeysView>(args.out[kOut], tile, place, d, pair.low);
  if (turns) StoreNew<NextKeysView>(args.out[kOut], tile, place, d + kPairs, pair.high);
}

AICF_DEVICE void MoveValue(const Args& args, const Tile& tile, const NewPlace& place, bool stores,
                           int d) {
  constexpr int kOut = kAppends ? 2 : 0;
  const TurnedHead head = {NewRowOf<NewValuesView>(args, tile, MaxOf(0, kNewValues)), NewValue()};
  const NewPiece piece = head.Read(d);
  head.Write(d, piece);
  if (stores && place.page >= 0) {
    StoreNew<NextValuesView>(args.out[kOut], tile, place, d, piece);
  }
}

/// Puts the turned queries, the turned new key and the new value into shared memory, with zeros
/// where the tile has no rows and behind heads. With `stores` also puts the new rows in their
/// place, which is not looked at before, so that no load waits for it.
AICF_DEVICE void TurnRows(const Args& args, const Tile& tile, const NewPlace& place, bool stores) {
  for (int i = ThreadInBlock(); i < NewParts::kAll; i += kThreads) {
    const int r = i / NewParts::kOfHead;
    if (i >= NewParts::kFirstValue) {
      MoveValue(args, tile, place, stores, (i - NewParts::kFirstValue) * kTurned);
    } else if (r <= kRows) {
      TurnPart(args, tile, place, stores, r, i % NewParts::kOfHead);
    }
  }
}

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
