// cuda.copy.fill: walks the output; each element comes from the one piece that covers it, or is the
// fill value.
#pragma once

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
  for (index_t i = static_cast<index_t>(blockIdx.x) * kBlockX + threadIdx.x; i < kOutputCount0;
       i += kGridX * kBlockX) {
    const Point point = OutputPoint(i);
    Out0::S value = Narrow<Out0::S>::Of(OpCast<T>(attr_fill));
    ForEachWindow(FindPiece{args, point, value});
    index_t offset = Out0::kOffset;
#pragma unroll
    for (int d = 0; d < Out0::kRank; ++d) offset += point.c[d] * Out0::stride(d);
    static_cast<Out0::S*>(args.out[0])[offset] = value;
  }
}

}  // namespace aicf
