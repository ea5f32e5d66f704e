// What the attention kernels share: a problem's extents, which keys a row sees, where a key lies,
// and the loads of tiles. A block has one key head of one request and a tile of its rows; row r of
// a tile that starts at row `first` is query head (first + r) % kGroup of the key head's group, at
// query (first + r) / kGroup, so that a single query with many heads still fills a tile.
#pragma once

#include "common/block.cuh"
#include "common/enums.cuh"
#include "common/loader.cuh"

namespace aicf {

constexpr int kQueryHeads = static_cast<int>(In0::extent(1));
constexpr int kKeyHeads = static_cast<int>(In1::extent(1));
constexpr int kGroup = MaxOf(1, kQueryHeads / kKeyHeads);
constexpr int kQueries = static_cast<int>(In0::extent(2));
constexpr int kHead = static_cast<int>(In0::extent(3));
constexpr int kValueHead = static_cast<int>(In2::extent(3));
constexpr bool kNoRows = In0::extent(0) == 0 || kQueryHeads == 0 || kQueries == 0;
constexpr i64 kAllRows = static_cast<i64>(kQueries) * kGroup;
constexpr int kPage = attr_pages ? MaxOf(1, static_cast<int>(In1::extent(2))) : 1;
constexpr int kKeys =
    static_cast<int>(attr_pages ? TableView::extent(1) * In1::extent(2) : In1::extent(2));

template <class V>
AICF_DEVICE i64 IntegerOf(const Args& args, int input, int b) {
  const index_t at = V::kOffset + b * V::stride(0);
  return static_cast<i64>(Widen(static_cast<const typename V::S*>(args.in[input])[at]));
}

/// The score of a key that is not seen.
AICF_DEVICE float NoScore() { return __uint_as_float(0xff800000u); }

AICF_DEVICE i64 Clamped(i64 v, i64 low, i64 high) { return v < low ? low : v > high ? high : v; }

/// What operands say of one request.
struct RequestOperands {
  i64 length = 0, origin = 0;

  AICF_DEVICE RequestOperands(const Args& args, int b) {
    if constexpr (kLengths >= 0) length = IntegerOf<LengthsView>(args, kLengths, b);
    if constexpr (kOrigins >= 0) origin = IntegerOf<OriginsView>(args, kOrigins, b);
  }
};

/// One request: its valid keys, and the position of its first row.
struct Request {
  int valid;
  i64 position;

  AICF_DEVICE Request(const Args& args, int b) : Request(RequestOperands(args, b)) {}
  AICF_DEVICE explicit Request(const RequestOperands& of) : valid(kKeys), position(attr_offset) {
    constexpr i64 kMaxPosition = 1ll << 40;
    if constexpr (kLengths >= 0) valid = static_cast<int>(Clamped(of.length, 0, kKeys));
    if constexpr (attr_rows == kRowsAtLastKeys) position += valid - kQueries;
    if constexpr (kOrigins >= 0) position += Clamped(of.origin, -kMaxPosition, kMaxPosition);
  }
  /// Keys [Begin, End) that query i sees by position.
  AICF_DEVICE int Begin(int i) const {
    if constexpr (attr_window_left < 0) return 0;
    return static_cast<int>(Clamped(position + i - attr_window_left, 0, valid));
  }
  AICF_DEVICE int End(int i) const {
    if constexpr (attr_window_right < 0) return valid;
    return static_cast<int>(Clamped(position + i + attr_window_right + 1, Begin(i), valid));
  }
};

/// The page of a pool that holds key j of a request; negative where that is outside the pool.
template <class V>
AICF_DEVICE i64 PageOfKey(const Args& args, int b, int j) {
  if constexpr (kTable >= 0) {
    const index_t entry =
        TableView::kOffset + b * TableView::stride(0) + j / kPage * TableView::stride(1);
    const i64 page =
        static_cast<i64>(Widen(static_cast<const TableView::S*>(args.in[kTable])[entry]));
    if (page < V::extent(0)) return page;
  }
  return -1;
}

/// Offset of key j's row in a pool or in a request's keys; false where its page is outside the
/// pool.
template <class V>
AICF_DEVICE bool KeyOffset(const Args& args, int b, int g, int j, index_t* offset) {
  index_t at = V::kOffset + g * V::stride(1);
  if constexpr (kTable >= 0) {
    const i64 page = PageOfKey<V>(args, b, j);
    if (page < 0) return false;
    at += static_cast<index_t>(page) * V::stride(0) + j % kPage * V::stride(2);
  } else {
    at += b * V::stride(0) + j * V::stride(2);
  }
  *offset = at;
  return true;
}

AICF_DEVICE constexpr i64 Size(i64 v) { return v < 0 ? -v : v; }

/// Elements that one access of an operand's rows of `length` elements moves.
template <class V>
AICF_DEVICE constexpr int VectorOf(int length) {
  int v = PieceOf<typename V::S>(8, V::run(3));
  while (length % v != 0) v /= 2;
  return v;
}

/// Moves rows of `kLength` elements into a tile whose rows are kPitch apart; elements from kLength
/// up to kWidth, and rows that `find` does not find, become 0. Asynchronous where nothing is
/// converted.
template <class V, class T, int kThreads, int kLength, int kWidth, int kPitch, class Find>
AICF_DEVICE void LoadRows(const Args& args, int input, int rows, T* tile, Find find) {
  typedef typename V::S S;
  constexpr int N = VectorOf<V>(kLength);
  constexpr int kPieces = kWidth / N;
  constexpr int kBytes = static_cast<int>(sizeof(S)) * N;
  constexpr bool kAsync =
      kSame<T, S> && kPitch % N == 0 && (kBytes == 4 || kBytes == 8 || kBytes == 16);
  // Neighbouring threads load neighbours in memory: along a row, or across rows where those lie
  // closer together.
  constexpr bool kAcross = N == 1 && Size(V::stride(2)) < Size(V::stride(3));
  const S* base = static_cast<const S*>(args.in[input]);
  for (int p = ThreadInBlock(); p < rows * kPieces; p += kThreads) {
    const int row = kAcross ? p % rows : p / kPieces;
    const int column = (kAcross ? p / rows : p % kPieces) * N;
    index_t at = 0;
    const bool valid = column < kLength && find(row, &at);
    const S* from = base + at + column * V::stride(3);
    T* to = tile + row * kPitch + column;
    if constexpr (kAsync) {
      CopyAsync<kBytes>(to, valid ? from : nullptr, valid);
    } else {
      Pack<S, N> pack = {};
      if (valid) pack = *reinterpret_cast<const Pack<S, N>*>(from);
#pragma unroll
      for (int n = 0; n < N; ++n) to[n] = valid ? ToTile<T>(pack.v[n]) : T{};
    }
  }
}

/// The block's request b, key head g and first row; all blocks of a cluster have the same ones.
struct Tile {
  int b, g;
  i64 first;  ///< row

  AICF_DEVICE explicit Tile(int rows) {
    constexpr i64 kHeads = kKeyHeads;
    const i64 tiles = kNoRows ? 1 : (kAllRows + rows - 1) / rows;
    const i64 block = blockIdx.x / kClusterX;
    // Where the window ends on the right, later rows see more keys: their longer tiles start first.
    first = (tiles - 1 - block % tiles) * rows;
    g = static_cast<int>(block / tiles % kHeads);
    b = static_cast<int>(block / tiles / kHeads);
  }
  AICF_DEVICE bool Holds(int r) const { return first + r < kAllRows; }
  AICF_DEVICE int Query(int r) const { return static_cast<int>(Row(r) / kGroup); }
  AICF_DEVICE int Head(int r) const { return g * kGroup + static_cast<int>(Row(r) % kGroup); }
  /// Offset of row r in q or in an output.
  template <class V>
  AICF_DEVICE index_t Offset(int r) const {
    return V::kOffset + b * V::stride(0) + Head(r) * V::stride(1) + Query(r) * V::stride(2);
  }

 private:
  /// Numbers of rows are divided in 32 bits where they fit.
  typedef Either<(kAllRows < (i64{1} << 30)), unsigned, i64>::T row_t;
  AICF_DEVICE row_t Row(int r) const { return static_cast<row_t>(first + r); }
};

/// A row of a tile: the keys that it sees, and its coordinates in the score expression's domain.
struct RowPlace {
  int begin = 0, end = 0, head = 0, query = 0;

  AICF_DEVICE void Set(const Tile& tile, const Request& request, int r) {
    if (!tile.Holds(r)) return;
    query = tile.Query(r);
    head = tile.Head(r);
    begin = request.Begin(query);
    end = request.End(query);
  }
  /// The score of key j, given its scaled product; -inf where the row does not see it.
  template <class T>
  AICF_DEVICE T Score(const Args& args, int b, int j, bool present, T product) const {
    if (j < begin || j >= end || !present) return static_cast<T>(NoScore());
    return ScoreSeen(args, b, j, product);
  }
  /// The same for a key that the row sees.
  template <class T>
  AICF_DEVICE T ScoreSeen(const Args& args, int b, int j, T product) const {
    return ::aicf::Score::Of(args, product, b, head, query, j);
  }
};

/// A result in the output's type. In float8 the largest number stands for what is beyond it.
template <class S, class T>
AICF_DEVICE S Stored(T value) {
  if constexpr (kSame<S, f8e4m3fn>) value = ClampToE4M3(value);
  return Narrow<S>::Of(value);
}

template <class V, class T>
AICF_DEVICE void StoreElement(void* base, index_t at, T value) {
  typedef typename V::S S;
  static_cast<S*>(base)[at] = Stored<S>(value);
}

/// Stores the logarithm of a row's sum, where the step has that output.
template <class T>
AICF_DEVICE void StoreLogSum(const Args& args, const Tile& tile, int r, T max, T sum) {
  if constexpr (kOutputs == 2) {
    const T value = sum == 0 ? static_cast<T>(NoScore()) : max + OpLog(sum);
    StoreElement<LogView>(args.out[1], tile.Offset<LogView>(r), value);
  }
}

}  // namespace aicf
