// cuda.dequantize.map: a thread decodes kVector neighbouring results, which share a scale, where
// these lie along a row of blocks and rows are whole vectors; otherwise it decodes one at a time.
#pragma once

#include "common/blocks.cuh"

namespace aicf {

constexpr int kFormat = static_cast<int>(attr_format);
constexpr int kRowAxis = Out0::kRank - 1;
AICF_DEVICE constexpr bool WholeRuns() {
  return kInnerAxis == kRowAxis && Out0::extent(kRowAxis) % kVector == 0;
}
constexpr int kResults = WholeRuns() ? kVector : 1;

AICF_DEVICE void Kernel(const Args& args) {
  const index_t first = (static_cast<index_t>(blockIdx.x) * kBlockX + threadIdx.x) * kResults;
  for (index_t i = first; i < kOutputCount0; i += kGridX * kBlockX * kResults) {
    const Point point = OutputPoint(i);
    const u8* row = static_cast<const u8*>(args.in[0]) + In0::kOffset;
#pragma unroll
    for (int d = 0; d < kRowAxis; ++d) row += point.c[d] * In0::stride(d);
    raw_t raw[kResults];
    DecodeRun<kFormat>(row, point.c[kRowAxis], raw);
    Epilogue::Store<kResults>(args, raw, i);
  }
}

}  // namespace aicf
