// cuda.copy.convert: copies whose results pass through an epilogue, such as pictures that become
// pixels of 16 bits with zeros around them. Walks the output, kVector neighbours of its innermost
// axis at a time; the raw value of each comes from the one piece that covers it, or is the fill.
#pragma once

namespace aicf {

static_assert(kOutputCount0 % kVector == 0, "vectors do not leave the innermost axis");

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

AICF_DEVICE void Kernel(const Args& args) {
  for (index_t i = static_cast<index_t>(blockIdx.x) * kBlockX + threadIdx.x;
       i < kOutputCount0 / kVector; i += kGridX * kBlockX) {
    const Point first = OutputPoint(i * kVector);
    raw_t raw[kVector];
#pragma unroll
    for (int j = 0; j < kVector; ++j) {
      Point point = first;
      if constexpr (kVector > 1) point.c[kInnerAxis] += j;
      raw[j] = OpCast<raw_t>(attr_fill);
      ForEachWindow(FindRaw{args, point, raw[j]});
    }
    Epilogue::Store<kVector>(args, raw, i * kVector);
  }
}

}  // namespace aicf
