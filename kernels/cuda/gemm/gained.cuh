// Rows of A times the gain of a norm, which products multiply before it is known how to normalise
// them: the finished sums are scaled with one factor for each row instead, so that nobody waits for
// it (kNormalizesRows).
#pragma once

#include "common/enums.cuh"
#include "gemm/rows.cuh"

namespace aicf {

/// What holds an element of a row times the gain. In the math mode bf16 the product is rounded. It
/// is not normalised yet, so it may be beyond the range of f16.
typedef Either<kMath == kBf16 && kSame<In0::S, bf16>, bf16, float>::T gained_t;

/// The factor that normalises a row with this sum of squares.
AICF_DEVICE float NormFactor(float squares) {
  return 1.0f / sqrtf(squares / static_cast<float>(kLength) + static_cast<float>(attr_rms_epsilon));
}

}  // namespace aicf
