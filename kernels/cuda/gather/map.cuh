// cuda.gather.map: kVector neighbouring results per thread; an index out of range reads as zero.
#pragma once

namespace aicf {

constexpr int kAxis = static_cast<int>(attr_axis);
constexpr int kIndexRank = In1::kRank;
/// Axis of the data that the output's innermost axis follows; -1 where it follows an index axis.
constexpr int kDataInner = kInnerAxis < 0                     ? -1
                           : kInnerAxis < kAxis               ? kInnerAxis
                           : kInnerAxis >= kAxis + kIndexRank ? kInnerAxis - kIndexRank + 1
                                                              : -1;
AICF_DEVICE constexpr bool WholeRuns() {
  return kDataInner >= 0 && In0::stride(kDataInner) == 1 && Out0::extent(kInnerAxis) % kVector == 0;
}
constexpr int kResults = WholeRuns() ? kVector : 1;

AICF_DEVICE index_t DataOffset(const Args& args, const Point& point, bool* inside) {
  index_t index_at = In1::kOffset;
#pragma unroll
  for (int d = 0; d < kIndexRank; ++d) index_at += point.c[kAxis + d] * In1::stride(d);
  i64 index = static_cast<i64>(Widen(static_cast<const In1::S*>(args.in[1])[index_at]));
  constexpr i64 kExtent = static_cast<i64>(In0::extent(kAxis));
  if (index < 0) index += kExtent;
  *inside = index >= 0 && index < kExtent;
  index_t offset = In0::kOffset + static_cast<index_t>(*inside ? index : 0) * In0::stride(kAxis);
#pragma unroll
  for (int d = 0; d < In0::kRank; ++d) {
    if (d != kAxis) offset += point.c[d < kAxis ? d : d + kIndexRank - 1] * In0::stride(d);
  }
  return offset;
}

AICF_DEVICE void Kernel(const Args& args) {
  const index_t first = (static_cast<index_t>(blockIdx.x) * kBlockX + threadIdx.x) * kResults;
  for (index_t i = first; i < kOutputCount0; i += kGridX * kBlockX * kResults) {
    bool inside = false;
    const index_t offset = DataOffset(args, OutputPoint(i), &inside);
    const In0::S* data = static_cast<const In0::S*>(args.in[0]) + offset;
    raw_t raw[kResults];
#pragma unroll
    for (int j = 0; j < kResults; ++j) raw[j] = inside ? Widen(data[j]) : raw_t(0);
    Epilogue::Store<kResults>(args, raw, i);
  }
}

}  // namespace aicf
