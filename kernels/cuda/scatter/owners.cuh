// cuda.scatter.owners: a warp owns some targets of one line. It looks at 32 updates at once and
// applies those that are for its targets in order. Rows of 32 elements and more are walked by the
// whole warp, in chunks that belong to different warps. If rows are shorter, each target belongs to
// one lane.
#pragma once

#include "scatter/scatter.cuh"

namespace aicf {

constexpr bool kWideRows = kRow >= 32;
constexpr index_t kGroup = kWideRows ? 1 : 32;  ///< neighbouring targets of one owner
constexpr index_t kChunk = 1024;
constexpr index_t kChunks = kWideRows ? (kRow + kChunk - 1) / kChunk : 1;
constexpr index_t kUnits = kLines * kShares * kChunks;

AICF_DEVICE index_t OwnerOf(index_t target) { return target / kGroup % kShares; }

/// Elements [begin, end) of the rows, from the point of view of one lane.
struct Part {
  int lane;
  index_t share, begin, end;
};

AICF_DEVICE void CopyRow(const Line& l, index_t t, index_t first, index_t end, index_t step) {
  const index_t from = TargetOffset<In0>(t), to = TargetOffset<Out0>(t);
  for (index_t r = first; r < end; r += step) {
    l.out[to + RowOffset<Out0>(r)] = l.data[from + RowOffset<In0>(r)];
  }
}

AICF_DEVICE void CopyTargets(const Line& l, const Part& p) {
  if constexpr (kWideRows) {
    for (index_t t = p.share; t < kTargets; t += kShares) {
      CopyRow(l, t, p.begin + p.lane, p.end, 32);
    }
  } else {
    for (index_t t = p.share * kGroup + p.lane; t < kTargets; t += kShares * kGroup) {
      CopyRow(l, t, 0, kRow, 1);
    }
  }
}

AICF_DEVICE void ApplyRow(const Line& l, const Part& p, index_t u, index_t t) {
  if (!kWideRows && t % kGroup != p.lane) return;
  const index_t to = TargetOffset<Out0>(t);
  for (index_t r = kWideRows ? p.begin + p.lane : 0; r < p.end; r += kWideRows ? 32 : 1) {
    Apply(l.out + to + RowOffset<Out0>(r), l.update[UpdateOffset(u, r)]);
  }
}

AICF_DEVICE void Kernel(const Args& args) {
  const bool copies = MustCopy(args);
  const index_t warp = (static_cast<index_t>(blockIdx.x) * kBlockX + threadIdx.x) / 32;
  for (index_t unit = warp; unit < kUnits; unit += kGridX * (kBlockX / 32)) {
    const index_t chunk = unit % kChunks;
    const Line l = LineAt<attr_kind>(args, unit / kChunks / kShares);
    const index_t end = (chunk + 1) * kChunk < kRow ? (chunk + 1) * kChunk : kRow;
    const Part p = {static_cast<int>(threadIdx.x % 32), unit / kChunks % kShares, chunk * kChunk,
                    end};
    if (copies) CopyTargets(l, p);
    if (!l.updated) continue;
    for (index_t base = 0; base < kUpdates; base += 32) {
      const index_t u = base + p.lane;
      const index_t t = u < kUpdates ? TargetOf(args, l, u) : -1;
      u32 own = __ballot_sync(0xffffffffu, t >= 0 && OwnerOf(t) == p.share);
      while (own != 0) {
        const int source = __ffs(static_cast<int>(own)) - 1;
        own &= own - 1;
        ApplyRow(l, p, base + source, __shfl_sync(0xffffffffu, t, source));
      }
    }
  }
}

}  // namespace aicf
