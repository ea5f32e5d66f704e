/// What follows the i32 sums of a quantised product: scales, rounding, the result's zero point.
#pragma once

#include <functional>

#include "compiler/passes/lower/operand_expr.h"

namespace aicf {

/// Turns a parameter (a scale, a zero point) as its value stores it into an operand of the
/// epilogue. Never called for a parameter of one element.
using Place = std::function<abi::View(const abi::View&)>;

/// A parameter's value at the current point, in its own compute dtype.
uint16_t LoadParameter(LowerContext& ctx, OperandExpr& expr, ir::ValueId id, const Dims& domain,
                       const Place& place);

/// A scaled product: sums * left * right / result, by the scales' values.
struct ScaledProduct {
  ir::ValueId left = ir::kNoValue, right = ir::kNoValue;
  ir::ValueId result = ir::kNoValue;  ///< kNoValue: no division
  Place place_left, place_right;
};
/// `sums` times the factor, in f32; the factor is formed in the precision of the scales' type.
uint16_t Scaled(LowerContext& ctx, OperandExpr& expr, const ScaledProduct& product, uint16_t sums,
                const Dims& domain);

}  // namespace aicf
