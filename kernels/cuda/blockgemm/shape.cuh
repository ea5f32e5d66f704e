// The shape of the step's product with blocks. Its rows are those of all leading axes together,
// since B is the same for all of them.
#pragma once

#include "common/enums.cuh"

namespace aicf {

constexpr int kFormat = static_cast<int>(attr_format);
constexpr int kAxisN = Out0::kRank - 1;
constexpr int kAxisK = kAxisN;  // of A
constexpr index_t kColumns = kRowsInner ? kOutputCount1 : kOutputCount0;
constexpr index_t kRows = kRowsInner ? kOutputCount0 : kOutputCount1;
constexpr index_t kLength = In0::extent(kAxisK);

/// Where row `row` of A, or of another operand of A's shape, begins, in elements.
template <class V>
AICF_DEVICE index_t RowOf(index_t row) {
  const Point point = OutputPoint(kRowsInner ? row : 0, kRowsInner ? 0 : row);
  index_t at = V::kOffset;
#pragma unroll
  for (int d = 0; d < kAxisK; ++d) at += point.c[d] * V::stride(d);
  return at;
}

}  // namespace aicf
