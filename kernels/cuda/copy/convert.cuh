// cuda.copy.convert: copies whose results pass through an epilogue, such as pictures that become
// pixels of 16 bits with zeros around them. Walks the output, kVector neighbours at a time; the raw
// value of each comes from the one piece that covers it, or is the fill.
#pragma once

#include "copy/neighbours.cuh"

namespace aicf {

/// The raw value of the one piece that covers a point of the output, if there is one.
struct FindRaw {
  const Args& args;
  const Point& point;
  raw_t& value;

  template <class P>
  AICF_DEVICE void operator()(P) const {
    index_t offset = P::In::kOffset;
    bool inside = true;
#pragma unroll
    for (int d = 0; d < Out0::kRank; ++d) {
      const index_t c = point.c[d] - static_cast<index_t>(P::start(d));
      inside = inside && c >= 0 && c < P::In::extent(d);
      offset += c * P::In::stride(d);
    }
    if (inside) value = Widen(static_cast<const typename P::In::S*>(args.in[P::kInput])[offset]);
  }
};

constexpr index_t kItems = kOutputCount0 / kVector;  ///< stores of all threads
constexpr index_t kAllThreads = static_cast<index_t>(kGridX) * kBlockX;
/// Stores of a thread whose operands are asked for before the first of them waits for its own. All
/// threads together take no more elements in one stride than 32-bit indices have room for
/// (kMaxGridStride).
constexpr bool kHasRoom = kAllThreads * kVector <= (1 << 28) / 4;
constexpr int kBatch = !kHasRoom                   ? 1
                       : kItems >= 4 * kAllThreads ? 4
                       : kItems >= 2 * kAllThreads ? 2
                                                   : 1;

AICF_DEVICE void LoadRaw(const Args& args, index_t item, raw_t (&raw)[kVector]) {
  const Point first = OutputPoint(item * kVector);
#pragma unroll
  for (int j = 0; j < kVector; ++j) {
    const Point point = NeighbourOf(first, j);
    raw[j] = OpCast<raw_t>(attr_fill);
    ForEachWindow(FindRaw{args, point, raw[j]});
  }
}

AICF_DEVICE void Kernel(const Args& args) {
  for (index_t i = static_cast<index_t>(blockIdx.x) * kBlockX + threadIdx.x; i < kItems;
       i += kAllThreads * kBatch) {
    raw_t raw[kBatch][kVector];
#pragma unroll
    for (int b = 0; b < kBatch; ++b)
      if (i + b * kAllThreads < kItems) LoadRaw(args, i + b * kAllThreads, raw[b]);
#pragma unroll
    for (int b = 0; b < kBatch; ++b)
      if (i + b * kAllThreads < kItems)
        Epilogue::Store<kVector>(args, raw[b], (i + b * kAllThreads) * kVector);
  }
}

}  // namespace aicf
