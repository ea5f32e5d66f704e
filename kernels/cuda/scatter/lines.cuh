// cuda.scatter.lines: for scatters of kind kElements. A thread owns some targets of one line: it
// copies them, then walks all updates of the line in order and applies those that are for its
// targets. No two threads share a target, so they need not synchronise.
#pragma once

#include "scatter/scatter.cuh"

namespace aicf {

/// Neighbouring threads handle neighbouring elements: shares of one line if the axis is innermost,
/// else neighbouring lines.
constexpr bool kSharesInner = Out0::stride(kAxis) == 1 || kLines == 1;

AICF_DEVICE void Kernel(const Args& args) {
  const bool copies = MustCopy(args);
  const index_t first = static_cast<index_t>(blockIdx.x) * kBlockX + threadIdx.x;
  for (index_t i = first; i < kLines * kShares; i += kGridX * kBlockX) {
    const index_t share = kSharesInner ? i % kShares : i / kLines;
    const Line l = LineAt<attr_kind>(args, kSharesInner ? i / kShares : i % kLines);
    if (copies) {
      for (index_t t = share; t < kTargets; t += kShares) {
        l.out[TargetOffset<Out0>(t)] = l.data[TargetOffset<In0>(t)];
      }
    }
    if (!l.updated) continue;
#pragma unroll 4
    for (index_t u = 0; u < kUpdates; ++u) {
      const index_t t = TargetOf(args, l, u);
      if (t < 0 || t % kShares != share) continue;
      Apply(l.out + TargetOffset<Out0>(t), l.update[UpdateOffset(u, 0)]);
    }
  }
}

}  // namespace aicf
