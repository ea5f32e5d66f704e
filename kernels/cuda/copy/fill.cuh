// cuda.copy.fill: walks the output, kVector neighbours at a time; each element comes from the one
// piece that covers it, or is the fill value.
#pragma once

#include "copy/neighbours.cuh"

namespace aicf {

struct FindPiece {
  const Args& args;
  const Point& point;
  Out0::S& value;

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
    if (inside) value = static_cast<const typename P::In::S*>(args.in[P::kInput])[offset];
  }
};

AICF_DEVICE void Kernel(const Args& args) {
  typedef ComputeOf<Out0::S>::T T;
  for (index_t i = static_cast<index_t>(blockIdx.x) * kBlockX + threadIdx.x;
       i < kOutputCount0 / kVector; i += kGridX * kBlockX) {
    const Point first = OutputPoint(i * kVector);
    Pack<Out0::S, kVector> values;
#pragma unroll
    for (int j = 0; j < kVector; ++j) {
      const Point point = NeighbourOf(first, j);
      values.v[j] = Narrow<Out0::S>::Of(OpCast<T>(attr_fill));
      ForEachWindow(FindPiece{args, point, values.v[j]});
    }
    index_t offset = Out0::kOffset;
#pragma unroll
    for (int d = 0; d < Out0::kRank; ++d) offset += first.c[d] * Out0::stride(d);
    Out0::S* to = static_cast<Out0::S*>(args.out[0]) + offset;
    *reinterpret_cast<Pack<Out0::S, kVector>*>(to) = values;
  }
}

}  // namespace aicf
