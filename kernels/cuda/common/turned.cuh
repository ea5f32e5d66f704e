// The two axes of kernels that transpose tiles in shared memory: the first operand is contiguous
// along kFrom, the results along kTo.
#pragma once

namespace aicf {

/// The axis along which the first operand is contiguous.
AICF_DEVICE constexpr int SourceAxis() {
  for (int d = 0; d < In0::kRank; ++d) {
    if (In0::stride(d) == 1 && In0::extent(d) > 1) return d;
  }
  return 0;
}
constexpr int kFrom = SourceAxis();
constexpr int kTo = kInnerAxis;

}  // namespace aicf
