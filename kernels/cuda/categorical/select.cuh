// cuda.categorical.select: one cluster of blocks per row. Each block reads its part of the row and,
// with kCached, keeps the keys, so that it reads the part only once. Top-k and top-p keep the first
// categories in the order of falling keys and, among equal keys, of places. Where the kept ones end
// is found digit by digit, from histograms of counts (top-k) or masses (top-p) over the distance to
// the largest key. The first histogram has only the categories near the largest key: most others
// are far away and would fall into few bins, where their atomic additions would wait for each
// other. Only integers are summed up, so that results depend neither on timing nor on how the row
// is cut.
#pragma once

#include "categorical/meeting.cuh"

namespace aicf {

/// Blocks for which a multiprocessor has the registers, 64 for each thread, and the shared memory.
constexpr int kPerSm = MaxOf(1, MinOf(1024 / kBlockX, 220 * 1024 / kDynamicShared));

/// The bins of the first histogram have 2^kNearShift keys each, so that 256 of them reach two
/// powers of two below the largest logit.
constexpr int kNearShift = MaxOf(0, Parts::kMantissa + 1 - 8);

/// Keeps the categories whose key is nearer than `distance` to the largest key and, of those
/// exactly at that distance, the ones before `end`.
struct Cut {
  u32 distance, end;
  AICF_DEVICE bool Keeps(u32 from_largest, u32 place) const {
    return from_largest < distance || (from_largest == distance && place < end);
  }
};
AICF_DEVICE Cut NearerOf(const Cut& a, const Cut& b) {
  const bool first = a.distance < b.distance || (a.distance == b.distance && a.end < b.end);
  return first ? a : b;
}

/// The first bin at which the running weight reaches a target.
struct Bin {
  u32 index;  ///< kBins: none
  u64 above;  ///< weight of the bins before it
  u64 weight;
};

AICF_DEVICE void AddToBin(Message& histogram, u32 bin, u64 weight) {
  const u32 low = static_cast<u32>(weight), before = atomicAdd(&histogram.low[bin], low);
  const u32 high = static_cast<u32>(weight >> 32) + (before + low < before ? 1 : 0);
  if (high != 0) atomicAdd(&histogram.high[bin], high);
}

/// Adds up the bins of all blocks, bin t in thread t, and finds the bin in which the running weight
/// reaches `target`. All threads get it.
AICF_DEVICE Bin BinReaching(const Message& histogram, u64 target) {
  SharedState& s = Meetings::Shared();
  const int bin = static_cast<int>(threadIdx.x), lane = bin % 32, warp = bin / 32;
  u64 own = 0, running = 0;
  if (bin < kBins) {
    u32 low[kClusterX], high[kClusterX];
#pragma unroll
    for (int of = 0; of < kClusterX; ++of) {
      low[of] = Meetings::At(&histogram.low[bin], of);
      high[of] = Meetings::At(&histogram.high[bin], of);
    }
#pragma unroll
    for (int of = 0; of < kClusterX; ++of) own += low[of] + (static_cast<u64>(high[of]) << 32);
    running = ScanOfWarp(own);
    if (lane == 31) s.of_warp[warp] = running;
  }
  __syncthreads();
  if (bin < kBins) {
    for (int w = 0; w < warp; ++w) running += s.of_warp[w];
    const u64 above = running - own;
    const bool is_none = bin == kBins - 1 && running < target;
    if (is_none || (above < target && target <= running)) {
      s.bin = is_none ? kBins : bin;
      s.bins_above = above;
      s.bins_weight = own;
    }
  }
  __syncthreads();
  return {s.bin, s.bins_above, s.bins_weight};
}

/// A row and the cluster that selects from it.
struct Selection {
  Meetings& meetings;
  const Row& row;
  u32 largest;  ///< key

  /// Finds the bin in which the running weight reaches `target`, among kBins bins of 2^shift
  /// distances each that begin at `base`.
  template <class W>
  AICF_DEVICE Bin FindBin(u32 base, int shift, u64 target, W&& weigh) const {
    Message& histogram = meetings.Mine();
    for (int b = static_cast<int>(threadIdx.x); b < kBins; b += kBlockX) {
      histogram.low[b] = histogram.high[b] = 0;
    }
    __syncthreads();
    row.ForEach<false>([&](u32 place, u32 key) {
      const u32 distance = largest - key, bin = (distance - base) >> shift;
      if (distance < base || bin >= kBins) return;
      const u64 weight = weigh(place, key);
      if (weight != 0) AddToBin(histogram, bin, weight);
    });
    return BinReaching(meetings.Meet(), target);
  }

  /// Keeps the fewest first categories whose weight reaches `target`, which is at least 1 and at
  /// most the weight of all. Categories of the same key must have the same weight or none.
  template <class W>
  AICF_DEVICE Cut CutReaching(u64 target, W&& weigh) const {
    u32 base = 0;
    int shift = kNearShift;
    Bin bin = FindBin(base, shift, target, weigh);
    if (bin.index == kBins) {
      shift = kKeyBits - 8;
      bin = FindBin(base, shift, target, weigh);
    }
    for (;;) {
      base += bin.index << shift;
      target -= bin.above;
      if (bin.weight == target) {
        const u32 width = 1u << shift;
        return {base > 0xffffffffu - width ? 0xffffffffu : base + width, 0};
      }
      if (shift == 0) return CutAmongEqual(base, bin.weight, target, weigh);
      shift = MaxOf(0, shift - 8);
      bin = FindBin(base, shift, target, weigh);
    }
  }

  /// Keeps as many of the categories at `distance`, which together weigh `all`, as it takes to
  /// reach `target`.
  template <class W>
  AICF_DEVICE Cut CutAmongEqual(u32 distance, u64 all, u64 target, W&& weigh) const {
    const u32 equal = largest - distance;
    // If the target takes all of them, none is cut off. An earlier cut keeps the earliest of equal
    // categories, so that place 0 has the weight of one that is kept.
    if (all - weigh(0, equal) < target) return {distance, kCategories};
    const auto weigh_equal = [&](u32 place, u32 key) {
      return key == equal ? weigh(place, key) : u64{0};
    };
    SumOf(weigh_equal);
    const u32 place = meetings.FirstAbove(row, target - 1, weigh_equal);
    if (place < kCategories && threadIdx.x < kClusterX) {
      u32* const found = &meetings.Mine().found;
      if constexpr (kClusterX > 1)
        StoreClusterWord(found, place, static_cast<int>(threadIdx.x));
      else
        *found = place;
    }
    return {distance, meetings.MeetAfterSending().found + 1};
  }

  template <class W>
  AICF_DEVICE u64 SumOf(W&& weigh) const {
    u64 own = 0;
    row.ForEach<false>([&](u32 place, u32 key) { own += weigh(place, key); });
    return meetings.Combine<Sum>(own);
  }
};

/// UniformDraw of kernels/abi/draw.h, times 2^24.
AICF_DEVICE u32 DrawOf(u64 key, u64 counter) {
  u32 c[4] = {static_cast<u32>(counter), static_cast<u32>(counter >> 32), 0, 0};
  u32 k[2] = {static_cast<u32>(key), static_cast<u32>(key >> 32)};
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const u64 a = u64{0xD2511F53u} * c[0], b = u64{0xCD9E8D57u} * c[2];
    const u32 next[4] = {static_cast<u32>(b >> 32) ^ c[1] ^ k[0], static_cast<u32>(b),
                         static_cast<u32>(a >> 32) ^ c[3] ^ k[1], static_cast<u32>(a)};
#pragma unroll
    for (int i = 0; i < 4; ++i) c[i] = next[i];
    k[0] += 0x9E3779B9u;
    k[1] += 0xBB67AE85u;
  }
  return c[0] >> 8;
}

/// The row's element of an operand that has one element per row.
template <class X>
AICF_DEVICE typename ComputeOf<typename X::S>::T OfRow(const void* base, index_t row) {
  return Widen(static_cast<const typename X::S*>(base)[X::kOffset + row * X::stride(0)]);
}
template <class X, class T>
AICF_DEVICE void StoreOfRow(void* base, index_t row, T value) {
  typedef typename X::S S;
  static_cast<S*>(base)[X::kOffset + row * X::stride(0)] = Narrow<S>::Of(value);
}

/// The categories that both top-k and top-p keep.
AICF_DEVICE Cut CutOf(const Args& args, index_t b, const Selection& selection, const MassOf& mass) {
  Cut cut = {0xffffffffu, 0xffffffffu};
  const i32 top_k = OfRow<In2>(args.in[2], b);
  if (top_k > 0 && static_cast<u32>(top_k) < kCategories) {
    cut = selection.CutReaching(static_cast<u64>(top_k), [](u32, u32) { return u64{1}; });
  }
  const float top_p = OfRow<In3>(args.in[3], b);
  if (!(top_p < 1)) return cut;
  const auto weigh = [&](u32 place, u32 key) {
    return cut.Keeps(selection.largest - key, place) ? mass.Of(key) : u64{0};
  };
  const u64 all = selection.SumOf(weigh);
  const double part = top_p > 0 ? static_cast<double>(top_p) * static_cast<double>(all) : 0;
  u64 target = static_cast<u64>(part);
  if (static_cast<double>(target) < part) ++target;
  target = target < 1 ? 1 : target < all ? target : all;
  return NearerOf(cut, selection.CutReaching(target, weigh));
}

/// Views of operands and outputs that some instances lack; these do not define them.
struct In7;
struct In8;
struct Out1;
struct Out2;

/// The table that draws are stored in as well, where row b's place is that of `Places`.
template <class Table, class Places, class Next, int kNext>
struct DrawTable {
  i32 place;  ///< of the row

  AICF_DEVICE DrawTable(const Args& args, index_t b) : place(OfRow<Places>(args.in[8], b)) {}
  AICF_DEVICE void Store(const Args& args, i32 id) const {
    if (place < 0 || place >= Next::extent(0)) return;
    StoreOfRow<Next>(args.out[kNext], place, id);
  }
  /// Copies the table, except for the places of draws, unless it is updated in place.
  static AICF_DEVICE void Copy(const Args& args) {
    const i32* const from = static_cast<const i32*>(args.in[7]) + Table::kOffset;
    i32* const to = static_cast<i32*>(args.out[kNext]) + Next::kOffset;
    if (from == to) return;
    const index_t first = static_cast<index_t>(blockIdx.x) * kBlockX + threadIdx.x;
    for (index_t i = first; i < Table::extent(0); i += kGridX * kBlockX) {
      bool drawn = false;
      for (index_t b = 0; b < In0::extent(0); ++b) {
        drawn |= static_cast<index_t>(OfRow<Places>(args.in[8], b)) == i;
      }
      if (!drawn) to[i * Next::stride(0)] = from[i * Table::stride(0)];
    }
  }
};
struct NoDrawTable {
  AICF_DEVICE NoDrawTable(const Args&, index_t) {}
  AICF_DEVICE void Store(const Args&, i32) const {}
  static AICF_DEVICE void Copy(const Args&) {}
};
/// The table with the draws in it is the last output.
constexpr bool kStoresValid = kOutputs - static_cast<int>(attr_stores) > 1;
template <bool kStores, bool kBehindValid>
struct TableOf {
  typedef NoDrawTable Type;
};
template <>
struct TableOf<true, false> {
  typedef DrawTable<In7, In8, Out1, 1> Type;
};
template <>
struct TableOf<true, true> {
  typedef DrawTable<In7, In8, Out2, 2> Type;
};
typedef TableOf<attr_stores != 0, kStoresValid>::Type RowTable;

/// What a row needs to know beside its logits. It is asked for at the beginning, so that nobody
/// waits for it when the row's largest logit is known.
struct Drawing {
  float temperature;
  RowTable table;

  AICF_DEVICE Drawing(const Args& args, index_t b)
      : temperature(OfRow<In1>(args.in[1], b)), table(args, b) {}
  AICF_DEVICE void Store(const Args& args, index_t b, i32 id) const {
    StoreOfRow<Out0>(args.out[0], b, id);
    table.Store(args, id);
  }
};

/// Draws a category. The one thread of the cluster that finds it stores it.
AICF_DEVICE void Draw(const Args& args, index_t b, const Drawing& drawing,
                      const Selection& selection, u32 first) {
  const MassOf mass(ValueOf(selection.largest), drawing.temperature);
  const Cut cut = CutOf(args, b, selection, mass);
  const float min_p = OfRow<In4>(args.in[4], b);
  const auto weigh = [&](u32 place, u32 key) {
    if (!cut.Keeps(selection.largest - key, place)) return u64{0};
    const float share = mass.Share(ValueOf(key));
    return share < min_p && place != first ? u64{0} : MassOf::Fixed(share);
  };
  const u64 all = selection.SumOf(weigh);
  if (threadIdx.x >= 32) return;
  const u64 u = DrawOf(static_cast<u64>(static_cast<i64>(OfRow<In5>(args.in[5], b))),
                       static_cast<u64>(static_cast<i64>(OfRow<In6>(args.in[6], b))));
  // floor(u * all / 2^24), in two products of less than 64 bits each.
  const u64 target = u * (all >> 24) + (u * (all & 0xffffffu) >> 24);
  const u32 place = selection.meetings.FirstAbove(selection.row, target, weigh);
  if (place < kCategories && threadIdx.x == 0) {
    drawing.Store(args, b, static_cast<i32>(place));
  }
}

AICF_DEVICE void Kernel(const Args& args) {
  RowTable::Copy(args);
  if constexpr (In0::extent(0) == 0) return;
  const index_t b = static_cast<index_t>(blockIdx.x) / kClusterX;
  const int rank = static_cast<int>(blockIdx.x) % kClusterX;
  const Drawing drawing(args, b);
  Meetings meetings(rank);
  const Row row(args.in[0], b, rank, Meetings::Cache());
  u64 best = 0;
  row.ForEach<true>(
      [&](u32 place, u32 key) { best = Largest::Of(best, static_cast<u64>(key) << 32 | ~place); });
  best = meetings.Combine<Largest>(best);
  const u32 largest = static_cast<u32>(best >> 32), first = ~static_cast<u32>(best);
  const bool valid = largest != kIllegalKey && largest != kNothingKey;
  const bool draws = valid && drawing.temperature > 0;
  if (rank == 0 && threadIdx.x == 0) {
    if (!draws) drawing.Store(args, b, valid ? static_cast<i32>(first) : 0);
    if constexpr (kStoresValid) StoreOfRow<Out1>(args.out[1], b, valid);
  }
  if (draws) Draw(args, b, drawing, Selection{meetings, row, largest}, first);
  // A block must not exit while other blocks of its cluster may still read its shared memory.
  if constexpr (kClusterX > 1) LeaveCluster();
}

}  // namespace aicf

// Instances are compiled so that this many blocks fit on a multiprocessor.
#define AICF_MIN_BLOCKS aicf::kPerSm
