/// Operators that CUDA device code computes in fewer instructions than their plain form takes, to
/// the same bits.
#pragma once

#include <optional>
#include <string>

#include "kernels/abi/expr.h"

namespace aicf {

/// The text of such a node, or nothing where only the plain form does:
///   - the largest and smallest values of an integer type of 8 or 16 bits, between which an f32 is
///     clamped before it is cast to that type, are those of the instruction that casts, which also
///     rounds where the clamped value has just been rounded;
///   - a quotient of f32 by a constant that is rounded and clamped, as codes are, is a product with
///     the reciprocal, corrected by its remainder (QuotientToRound in kernels/cuda/common/ops.cuh).
/// Names other nodes as ExprStatements (compiler/codegen/expr_source.h) does. REQUIRES: `node` is
/// one of `expr`.
std::optional<std::string> ShortForm(const abi::Expr& expr, const abi::ExprNode& node);

}  // namespace aicf
