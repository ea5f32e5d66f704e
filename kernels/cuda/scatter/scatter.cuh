// What both scatter kernels share: the addresses of a line, and what an update does.
#pragma once

#include "common/enums.cuh"
#include "common/indices.cuh"

namespace aicf {

constexpr int kAxis = static_cast<int>(attr_axis);
constexpr int kRank = In0::kRank;
/// Leading axes of the data that the number of a target counts: as many as a tuple has coordinates.
/// For kElements it is the one axis.
constexpr int kTuple =
    attr_kind == kScatterPoints ? static_cast<int>(In1::extent(In1::kRank - 1)) : 1;
constexpr int kLeading = In1::kRank - 1;
constexpr index_t kTargets = static_cast<index_t>(
    attr_kind == kScatterPoints ? CountOf<In0, 0, kTuple>() : static_cast<i64>(In0::extent(kAxis)));
constexpr index_t kUpdates =
    static_cast<index_t>(attr_kind == kScatterPoints ? CountOf<In1, 0, kLeading>()
                                                     : static_cast<i64>(In1::extent(kAxis)));
constexpr index_t kRow =
    attr_kind == kScatterPoints ? static_cast<index_t>(CountOf<In0, kTuple, kRank>()) : 1;
AICF_DEVICE constexpr i64 OtherAxes() {
  i64 count = 1;
  for (int d = 0; d < kRank; ++d) count *= d == kAxis ? 1 : static_cast<i64>(In0::extent(d));
  return count;
}
constexpr index_t kLines = attr_kind == kScatterPoints ? 1 : static_cast<index_t>(OtherAxes());

typedef Out0::S Stored;

AICF_DEVICE void Apply(Stored* target, Stored update) {
  if constexpr (attr_reduction == kScatterNone) *target = update;
  if constexpr (attr_reduction == kScatterAdd)
    *target = Narrow<Stored>::Of(OpAdd(Widen(*target), Widen(update)));
  if constexpr (attr_reduction == kScatterMul)
    *target = Narrow<Stored>::Of(OpMul(Widen(*target), Widen(update)));
  if constexpr (attr_reduction == kScatterMin)
    *target = Narrow<Stored>::Of(OpMin(Widen(*target), Widen(update)));
  if constexpr (attr_reduction == kScatterMax)
    *target = Narrow<Stored>::Of(OpMax(Widen(*target), Widen(update)));
}

/// Where one line lies in each operand.
struct Line {
  const Stored* data;
  Stored* out;
  const Stored* update;
  index_t index;
  bool updated;  ///< false: no indices are for this line, which is only copied
};

template <int kKind>
AICF_DEVICE Line LineAt(const Args& args, index_t line) {
  Line l;
  index_t data = In0::kOffset, out = Out0::kOffset, update = In2::kOffset;
  l.index = In1::kOffset;
  l.updated = true;
  if constexpr (kKind == kScatterElements) {
    uindex_t rest = static_cast<uindex_t>(line);
#pragma unroll
    for (int d = kRank - 1; d >= 0; --d) {
      if (d == kAxis) continue;
      const uindex_t extent = static_cast<uindex_t>(In0::extent(d) > 0 ? In0::extent(d) : 1);
      const index_t at = static_cast<index_t>(rest % extent);
      rest /= extent;
      data += at * In0::stride(d);
      out += at * Out0::stride(d);
      l.updated &= at < In1::extent(d);
      l.index += at * In1::stride(d);
      update += at * In2::stride(d);
    }
  }
  l.data = static_cast<const Stored*>(args.in[0]) + data;
  l.out = static_cast<Stored*>(args.out[0]) + out;
  l.update = static_cast<const Stored*>(args.in[2]) + update;
  return l;
}

/// Offset of a target's first element, in an operand shaped like the data.
template <class X>
AICF_DEVICE index_t TargetOffset(index_t t) {
  if constexpr (attr_kind == kScatterElements)
    return t * X::stride(kAxis);
  else
    return OffsetOf<In0, X, 0, kTuple>(t);
}
/// Offset of element r of a target's row from the row's first element.
template <class X>
AICF_DEVICE index_t RowOffset(index_t r) {
  if constexpr (attr_kind == kScatterElements)
    return 0;
  else
    return OffsetOf<In0, X, kTuple, kRank>(r);
}
/// Offset of element r of update u from the line's first update.
AICF_DEVICE index_t UpdateOffset(index_t u, index_t r) {
  if constexpr (attr_kind == kScatterElements)
    return u * In2::stride(kAxis);
  else
    return OffsetOf<In1, In2, 0, kLeading>(u) +
           OffsetOf<In0, In2, kTuple, kRank, kLeading - kTuple>(r);
}

/// Number of the target to which update u is applied; -1: it is dropped.
AICF_DEVICE index_t TargetOf(const Args& args, const Line& l, index_t u) {
  if constexpr (attr_kind == kScatterElements) {
    const i64 at = IndexAt<In1>(args.in[1], l.index + u * In1::stride(kAxis));
    return static_cast<index_t>(WrappedIndex(at, static_cast<i64>(In0::extent(kAxis))));
  } else {
    const index_t first = l.index + OffsetOf<In1, In1, 0, kLeading>(u);
    index_t target = 0;
#pragma unroll
    for (int k = 0; k < kTuple; ++k) {
      const i64 extent = static_cast<i64>(In0::extent(k));
      const i64 at =
          WrappedIndex(IndexAt<In1>(args.in[1], first + k * In1::stride(kLeading)), extent);
      if (at < 0) return -1;
      target = target * static_cast<index_t>(extent) + static_cast<index_t>(at);
    }
    return target;
  }
}

/// Whether the data must be copied because the output is not in its place.
AICF_DEVICE bool MustCopy(const Args& args) {
  return static_cast<const Stored*>(args.in[0]) + In0::kOffset !=
         static_cast<const Stored*>(args.out[0]) + Out0::kOffset;
}

}  // namespace aicf
