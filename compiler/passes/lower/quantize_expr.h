/// Pieces of the expressions that quantise.
#pragma once

#include <optional>

#include "kernels/abi/expr.h"

namespace aicf {

/// `value` rounded to the storage dtype of a float, as a store would.
uint16_t RoundToFloat(abi::ExprBuilder& b, uint16_t value, DType dtype);

/// What ONNX makes of `value`, the quotient x / scale. An integer `to` gets the nearest whole
/// number, ties to even, plus the zero point, saturated. A float8 or float4 gets the value plus the
/// zero point; beyond its largest value it gets the largest, or with `saturate` false what its
/// format has there. `zero` has the compute dtype of `to`. The result has that dtype too.
uint16_t Quantized(abi::ExprBuilder& b, uint16_t value, std::optional<uint16_t> zero, DType to,
                   bool saturate = true);

}  // namespace aicf
