/// Pieces of the expressions that quantise.
#pragma once

#include <optional>

#include "kernels/abi/expr.h"

namespace aicf {

/// `value` rounded to the storage dtype of a float, as a store would.
uint16_t RoundToFloat(abi::ExprBuilder& b, uint16_t value, DType dtype);

/// What ONNX does with x / scale: an integer `to` gets the nearest whole number, ties to even, plus
/// the zero point, saturated; a float8 or float4 gets value plus zero point, beyond the largest
/// value the largest, or with `saturate` false what its format has there. `zero` has the compute
/// dtype of `to`. The result has that dtype too.
uint16_t Quantized(abi::ExprBuilder& b, uint16_t value, std::optional<uint16_t> zero, DType to,
                   bool saturate = true);

}  // namespace aicf
