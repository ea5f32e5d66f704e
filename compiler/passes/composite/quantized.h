/// Values as quantised data: codes, scale and zero point.
#pragma once

#include <string_view>

#include "compiler/passes/composite/composer.h"

namespace aicf {

/// Fails the composition (kBadModel) unless all of these inputs are there.
bool Require(Composer& c, std::initializer_list<size_t> inputs);

/// (codes - zero) * scale. `zero` may be kNoValue.
ir::ValueId Dequantized(Composer& c, ir::ValueId codes, ir::ValueId scale, ir::ValueId zero);
/// round(v / scale) + zero, saturated; without a zero point as codes of `dtype`.
ir::ValueId Quantized(Composer& c, ir::ValueId v, ir::ValueId scale, ir::ValueId zero, DType dtype);

/// Codes in u8, scale and zero point of an f32 tensor by the range of its values and 0, as
/// DynamicQuantizeLinear defines them.
struct DynamicCodes {
  ir::ValueId codes, scale, zero;
};
DynamicCodes QuantizeDynamically(Composer& c, ir::ValueId v);

/// An operand of ScaledProduct, which gives the exact sums a * b of the codes, times both scales,
/// plus a bias where it is not kNoValue. The zero point may be kNoValue.
struct QuantizedOperand {
  ir::ValueId codes, scale, zero;
};
ir::ValueId ScaledProduct(Composer& c, const QuantizedOperand& a, const QuantizedOperand& b,
                          ir::ValueId bias);

}  // namespace aicf
