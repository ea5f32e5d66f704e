/// What follows the i32 sums of a quantised product: scales, rounding, the result's zero point.
#pragma once

#include <functional>

#include "compiler/passes/lower/operand_expr.h"

namespace aicf {

/// Turns a parameter (a scale, a zero point) from the form in which its value is stored into an
/// operand of the epilogue. Never called for a parameter of one element.
using Place = std::function<abi::View(const abi::View&)>;

/// A parameter's value at the current point, in its own compute dtype.
uint16_t LoadParameter(LowerContext& ctx, OperandExpr& expr, ir::ValueId id, const Dims& domain,
                       const Place& place);

/// The scales of a product, whose result is sums * left * right / result.
struct ScaledProduct {
  ir::ValueId left = ir::kNoValue, right = ir::kNoValue, result = ir::kNoValue;
  Place place_left, place_right;
};
/// `sums` times the factor left * right / result, in f32. The factor is formed in f64 and rounded
/// once, to a finite number: the product of two scales alone may be beyond f32, or next to 0, where
/// their quotient by the third is neither, and a sum of 0 is 0 whatever the factor is.
uint16_t Scaled(LowerContext& ctx, OperandExpr& expr, const ScaledProduct& product, uint16_t sums,
                const Dims& domain);

}  // namespace aicf
