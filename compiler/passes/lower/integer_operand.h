/// Operands of quantised products: data without its zero point.
#pragma once

#include "compiler/passes/lower/lower.h"

namespace aicf {

/// An operand that gemm and conv multiply, and its value where that is known.
struct QuantizedOperand {
  ValueView view;
  ir::Tensor constant;
};

/// True when the value is absent or a constant of zeros.
bool IsZeroOrAbsent(LowerContext& ctx, ir::ValueId id);

/// The operand data - zero. Data whose zero point is 0 stay as they are. If both are constant, so
/// is the result, in the narrowest type that holds the differences; otherwise a step subtracts into
/// i16. Float8 data become f16, which holds all their values. `zero` broadcasts to the data when it
/// has `zero_shape`.
QuantizedOperand WithoutZeroPoint(LowerContext& ctx, const ir::Node& node, ir::ValueId data,
                                  ir::ValueId zero, const Dims& zero_shape);

/// Sums of a constant integer matrix [.., K, N] over K, as i32 [.., 1, N].
ir::Tensor ColumnSums(const ir::Tensor& matrix);

/// Sums of constant integer weights [O, ..] over all axes but the first, as i32 [O].
ir::Tensor FilterSums(const ir::Tensor& weights);

/// An i32 tensor times a number. Products wrap.
ir::Tensor Times(const ir::Tensor& tensor, int64_t by);

}  // namespace aicf
