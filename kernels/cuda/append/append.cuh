// What both append kernels share. A thread handles one vector of a head at a time or, for elements
// that are rotated (rotary embedding), the two vectors whose elements are rotated with each other.
// Threads go through the work in the order of rows, heads and elements. A cache that is not updated
// in place is copied, except for the rows that are newly appended, so that no element is written
// twice.
#pragma once

namespace aicf {

AICF_DEVICE constexpr index_t AtLeastOne(index_t n) { return n > 0 ? n : 1; }

constexpr index_t kHead = In0::extent(3), kHeads = In0::extent(2);
constexpr index_t kTokens = AtLeastOne(In0::extent(1));
constexpr index_t kRows = In0::extent(0) * In0::extent(1);
constexpr index_t kPairs = static_cast<index_t>(attr_pairs);
/// Units of work of a head. A head that is rotated has kParts: first kTurnedParts pairs of vectors
/// that are rotated with each other, then single vectors that are only copied. A head that is not
/// rotated has kWholeParts single vectors.
constexpr index_t kTurnedParts = kPairs / kVector;
constexpr index_t kParts = AtLeastOne(kTurnedParts + (kHead - 2 * kPairs) / kVector);
constexpr index_t kWholeParts = AtLeastOne(kHead / kVector);
constexpr bool kIsEmpty = kHead == 0;

/// kVector elements from `at` on along the last axis of X, in pieces as wide as its layout allows.
template <class X>
AICF_DEVICE void LoadPart(const void* base, index_t at, float (&x)[kVector]) {
  typedef typename X::S S;
  constexpr int N = PieceOf<S>(kVector, X::run(X::kRank - 1));
  const S* p = static_cast<const S*>(base) + at;
#pragma unroll
  for (int j = 0; j < kVector; j += N) {
    const Pack<S, N> pack = *reinterpret_cast<const Pack<S, N>*>(p + j * X::stride(X::kRank - 1));
#pragma unroll
    for (int i = 0; i < N; ++i) x[j + i] = Widen(pack.v[i]);
  }
}
template <class X>
AICF_DEVICE void StorePart(void* base, index_t at, const float (&x)[kVector]) {
  typedef typename X::S S;
  constexpr int N = PieceOf<S>(kVector, X::run(X::kRank - 1));
  S* p = static_cast<S*>(base) + at;
#pragma unroll
  for (int j = 0; j < kVector; j += N) {
    Pack<S, N> pack;
#pragma unroll
    for (int i = 0; i < N; ++i) pack.v[i] = Narrow<S>::Of(x[j + i]);
    *reinterpret_cast<Pack<S, N>*>(p + j * X::stride(X::kRank - 1)) = pack;
  }
}

/// Element 0 of head `head` at the first two coordinates.
template <class X>
AICF_DEVICE index_t HeadAt(index_t first, index_t second, index_t head) {
  return X::kOffset + first * X::stride(0) + second * X::stride(1) + head * X::stride(2);
}

struct Place {
  index_t page, row;
  bool inside;
};
AICF_DEVICE Place PlaceOf(const Args& args, index_t request, index_t token) {
  const i32* at = static_cast<const i32*>(args.in[2]) + In2::kOffset + request * In2::stride(0) +
                  token * In2::stride(1);
  const i32 page = at[0], row = at[In2::stride(2)];
  return {page, row, page >= 0 && page < In3::extent(0) && row >= 0 && row < In3::extent(1)};
}

/// One head of one row: where it is read and written, and the row's coordinates. If `inside` is
/// false, it would be written outside the cache, and nothing is written. That is checked only just
/// before the stores, so that no load waits for it.
struct HeadWork {
  const void* from;
  void* to;
  index_t from_at, to_at, request, token;
  bool inside;
};

/// Rotates vector `part` of a head of X together with its partner and stores both to the head of Y.
/// Parts beyond the rotated elements are copied.
template <class Queries, class X, class Y>
AICF_DEVICE void TurnPart(const Args& args, const HeadWork& w, index_t part) {
  constexpr index_t in = X::stride(3), out = Y::stride(3);
  float first[kVector];
  if (part >= kTurnedParts) {
    const index_t d = 2 * kPairs + (part - kTurnedParts) * kVector;
    LoadPart<X>(w.from, w.from_at + d * in, first);
    if (w.inside) StorePart<Y>(w.to, w.to_at + d * out, first);
    return;
  }
  const index_t d = part * kVector;
  float second[kVector], cosine[kVector], sine[kVector], low[kVector], high[kVector];
  LoadPart<X>(w.from, w.from_at + d * in, first);
  LoadPart<X>(w.from, w.from_at + (d + kPairs) * in, second);
  Queries::LoadTables(args, w.request, w.token, d, cosine, sine);
#pragma unroll
  for (int j = 0; j < kVector; ++j) {
    low[j] = first[j] * cosine[j] - second[j] * sine[j];
    high[j] = second[j] * cosine[j] + first[j] * sine[j];
  }
  if (!w.inside) return;
  StorePart<Y>(w.to, w.to_at + d * out, low);
  StorePart<Y>(w.to, w.to_at + (d + kPairs) * out, high);
}

AICF_DEVICE void MoveValues(const Args& args, const Place& place, index_t request, index_t token,
                            index_t part) {
  const index_t head = part / kWholeParts, d = part % kWholeParts * kVector;
  float x[kVector];
  LoadPart<In1>(args.in[1], HeadAt<In1>(request, token, head) + d * In1::stride(3), x);
  if (place.inside)
    StorePart<Out1>(args.out[1], HeadAt<Out1>(place.page, place.row, head) + d * Out1::stride(3),
                    x);
}

AICF_DEVICE constexpr index_t RoundUp(index_t n, index_t unit) {
  return (n + unit - 1) / unit * unit;
}

/// The vectors of a row, numbered: those of its queries come first, then its keys', then its
/// values'. Each of these three kinds begins at a multiple of 32, and so with a new warp, if the
/// launch has enough threads for that. A warp with several kinds would wait for the loads of each
/// kind in turn, and a decode step of one token consists mostly of these waits.
template <class Queries>
struct RowParts {
  static constexpr index_t kQueries = Queries::kHeads * kParts, kKeys = kHeads * kParts;
  static constexpr index_t kValues = kHeads * kWholeParts;
  static constexpr index_t kInWarps =
      RoundUp(kQueries, 32) + RoundUp(kKeys, 32) + RoundUp(kValues, 32);
  static constexpr index_t kUnit = kRows * kInWarps <= kGridX * kBlockX ? 32 : 1;
  static constexpr index_t kFirstKey = RoundUp(kQueries, kUnit);
  static constexpr index_t kFirstValue = kFirstKey + RoundUp(kKeys, kUnit);
  static constexpr index_t kAll = AtLeastOne(kFirstValue + RoundUp(kValues, kUnit));
};

template <class Queries>
AICF_DEVICE void AppendPart(const Args& args, index_t row, index_t part) {
  typedef RowParts<Queries> Parts;
  const index_t request = row / kTokens, token = row % kTokens;
  if (part < Parts::kFirstKey) {
    if (part >= Parts::kQueries) return;
    typedef typename Queries::From X;
    typedef typename Queries::To Y;
    const index_t head = part / kParts;
    const HeadWork w = {Queries::from(args),
                        Queries::to(args),
                        HeadAt<X>(request, token, head),
                        HeadAt<Y>(request, token, head),
                        request,
                        token,
                        true};
    return TurnPart<Queries, X, Y>(args, w, part % kParts);
  }
  const bool is_value = part >= Parts::kFirstValue;
  const index_t own = part - (is_value ? Parts::kFirstValue : Parts::kFirstKey);
  if (own >= (is_value ? Parts::kValues : Parts::kKeys)) return;
  const Place place = PlaceOf(args, request, token);
  if (is_value) return MoveValues(args, place, request, token, own);
  const index_t head = own / kParts;
  const HeadWork w = {args.in[0],
                      args.out[0],
                      HeadAt<In0>(request, token, head),
                      HeadAt<Out0>(place.page, place.row, head),
                      request,
                      token,
                      place.inside};
  TurnPart<Queries, In0, Out0>(args, w, own % kParts);
}

AICF_DEVICE bool IsNew(const Args& args, index_t page, index_t row) {
  for (index_t i = 0; i < kRows; ++i) {
    const Place place = PlaceOf(args, i / kTokens, i % kTokens);
    if (place.page == page && place.row == row) return true;
  }
  return false;
}

/// Copies the old cache, except for the rows in whose places new ones are written. Does nothing if
/// the cache is updated in place.
template <class Old, class New>
AICF_DEVICE void CopyOther(const Args& args, const void* from, void* to, index_t first) {
  typedef typename Old::S S;
  if (static_cast<const S*>(from) + Old::kOffset == static_cast<const S*>(to) + New::kOffset)
    return;
  constexpr index_t kSlotParts = AtLeastOne(kHeads * kWholeParts);
  constexpr index_t kPage = AtLeastOne(Old::extent(1));
  constexpr index_t kSlots = kHeads > 0 ? Old::extent(0) * Old::extent(1) : 0;
  for (index_t i = first; i < kSlots * kSlotParts; i += kGridX * kBlockX) {
    const index_t slot = i / kSlotParts, head = i % kSlotParts / kWholeParts;
    const index_t page = slot / kPage, row = slot % kPage;
    if (IsNew(args, page, row)) continue;
    const index_t d = i % kWholeParts * kVector;
    float x[kVector];
    LoadPart<Old>(from, HeadAt<Old>(page, row, head) + d * Old::stride(3), x);
    StorePart<New>(to, HeadAt<New>(page, row, head) + d * New::stride(3), x);
  }
}

template <class Queries>
AICF_DEVICE void Append(const Args& args) {
  if (kIsEmpty) return;
  constexpr index_t kAll = RowParts<Queries>::kAll;
  const index_t first = static_cast<index_t>(blockIdx.x) * kBlockX + threadIdx.x;
  for (index_t i = first; i < kRows * kAll; i += kGridX * kBlockX) {
    AppendPart<Queries>(args, i / kAll, i % kAll);
  }
  CopyOther<In3, Out0>(args, args.in[3], args.out[0], first);
  CopyOther<In4, Out1>(args, args.in[4], args.out[1], first);
}

}  // namespace aicf
