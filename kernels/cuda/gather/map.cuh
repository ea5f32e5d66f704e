// cuda.gather.map: kVector neighbouring results per thread; an index out of range reads as zero.
#pragma once

#include "common/enums.cuh"
#include "common/indices.cuh"

namespace aicf {

constexpr int kAxis = static_cast<int>(attr_axis);
constexpr int kIndexRank = In1::kRank;
constexpr int kBatch = static_cast<int>(attr_batch_axes);
/// For kind kPoints: the number of coordinates in a tuple (kTuple; 1 for other kinds), and of the
/// index axes before them (kLeading).
constexpr int kTuple =
    attr_kind == kGatherPoints ? static_cast<int>(In1::extent(kIndexRank - 1)) : 1;
constexpr int kLeading = kIndexRank - 1;

/// The axis of the data that the output's axis a walks, independently of the indices; -1: none.
AICF_DEVICE constexpr int DataAxis(int a) {
  if (a < 0 || attr_kind == kGatherElements) return -1;
  if (attr_kind == kGatherPoints) return a >= kLeading ? a - kLeading + kBatch + kTuple : -1;
  if (a < kAxis) return a;
  return a >= kAxis + kIndexRank ? a - kIndexRank + 1 : -1;
}
constexpr int kDataInner = DataAxis(kInnerAxis);
AICF_DEVICE constexpr bool WholeRuns() {
  return kDataInner >= 0 && In0::stride(kDataInner) == 1 && Out0::extent(kInnerAxis) % kVector == 0;
}
constexpr int kResults = WholeRuns() ? kVector : 1;

/// Reads an index along `axis` of the data and adds its distance from index 0 to `offset`. Returns
/// whether the index is in range.
AICF_DEVICE bool Follow(const Args& args, index_t index_at, int axis, index_t* offset) {
  const i64 index =
      WrappedIndex(IndexAt<In1>(args.in[1], index_at), static_cast<i64>(In0::extent(axis)));
  *offset += static_cast<index_t>(index < 0 ? 0 : index) * In0::stride(axis);
  return index >= 0;
}

/// Offset of the data's element for the output's element at `point`. Only the instance's own kind
/// is instantiated.
template <int kKind>
AICF_DEVICE index_t DataOffset(const Args& args, const Point& point, bool* inside) {
  index_t index_at = In1::kOffset, offset = In0::kOffset;
  *inside = true;
  if constexpr (kKind == kGatherPoints) {
#pragma unroll
    for (int d = 0; d < kLeading; ++d) index_at += point.c[d] * In1::stride(d);
#pragma unroll
    for (int k = 0; k < kTuple; ++k) {
      *inside &= Follow(args, index_at + k * In1::stride(kLeading), kBatch + k, &offset);
    }
#pragma unroll
    for (int d = 0; d < kBatch; ++d) offset += point.c[d] * In0::stride(d);
#pragma unroll
    for (int d = kBatch + kTuple; d < In0::kRank; ++d) {
      offset += point.c[d - kBatch - kTuple + kLeading] * In0::stride(d);
    }
  } else {
    // The output's axis at which the axes of the indices begin, and by how many axes they move
    // later axes of the data back.
    constexpr int kFrom = kKind == kGatherTake ? kAxis : 0;
    constexpr int kPush = kKind == kGatherTake ? kIndexRank - 1 : 0;
#pragma unroll
    for (int d = 0; d < kIndexRank; ++d) index_at += point.c[kFrom + d] * In1::stride(d);
    *inside = Follow(args, index_at, kAxis, &offset);
#pragma unroll
    for (int d = 0; d < In0::kRank; ++d) {
      if (d != kAxis) offset += point.c[d < kAxis ? d : d + kPush] * In0::stride(d);
    }
  }
  return offset;
}

/// Loads the data for neighbouring results, in as few accesses as their alignment allows.
AICF_DEVICE void LoadNeighbours(const In0::S* data, raw_t (&raw)[kResults]) {
  constexpr int N = kResults == 1 ? 1 : PieceOf<In0::S>(kResults, In0::run(kDataInner));
#pragma unroll
  for (int j = 0; j < kResults; j += N) {
    const Pack<In0::S, N> pack = *reinterpret_cast<const Pack<In0::S, N>*>(data + j);
#pragma unroll
    for (int i = 0; i < N; ++i) raw[j + i] = Widen(pack.v[i]);
  }
}

AICF_DEVICE void Kernel(const Args& args) {
  const index_t first = (static_cast<index_t>(blockIdx.x) * kBlockX + threadIdx.x) * kResults;
  for (index_t i = first; i < kOutputCount0; i += kGridX * kBlockX * kResults) {
    bool inside = false;
    const index_t offset = DataOffset<attr_kind>(args, OutputPoint(i), &inside);
    const In0::S* data = static_cast<const In0::S*>(args.in[0]) + offset;
    raw_t raw[kResults] = {};
    if (inside) LoadNeighbours(data, raw);
    Epilogue::Store<kResults>(args, raw, i);
  }
}

}  // namespace aicf
