/// Operators that CUDA device code computes in fewer instructions than their plain form takes, to
/// the same bits.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/abi/expr.h"

namespace aicf {

/// Finds the nodes of one expression that have such a form:
///   - Codes of i8 or u8. An f32 that is rounded, perhaps shifted by a zero point, clamped to the
///     range of the codes and cast becomes a code by a sum whose last byte is the code. A code,
///     whether made in this way or not, becomes an f32, perhaps less a zero point, by a sum, too.
///     Neither takes a conversion instruction (kernels/cuda/common/codes.cuh). A code that is only
///     stored, and not made of a quotient, stays an f32 until it is packed.
///   - Saturating casts. Where an f32 is clamped to the range of an integer type of 8 or 16 bits
///     and cast to that type, the clamp is left out, since the instruction that casts saturates.
///     It also rounds, so that a rounding just before the clamp is left out, too.
///   - A clamp between the largest numbers of f8e4m3fn tells the store that no larger number comes,
///     so that it does not look for one.
///   - A quotient of an f32 by a constant that is only rounded and clamped, as for codes, is a
///     product with the reciprocal, corrected by its remainder.
class ExprForms {
 public:
  /// `input(k)` is the text of input k's value. Keeps neither argument.
  ExprForms(const abi::Expr& expr, const std::function<std::string(int)>& input);

  /// The text that replaces the node's operator. It is empty where the node is left out, because no
  /// other node reads its value any more, and nullopt where the operator keeps its plain form.
  /// Names other nodes as ExprStatements (compiler/codegen/expr_source.h) does.
  const std::optional<std::string>& Of(size_t node) const { return texts_[node]; }
  /// The type of the node's value in device code: that of its dtype, or one of the forms of a code
  /// (kernels/cuda/common/codes.cuh). No operator of the text reads a code in such a form, but it
  /// may be a result.
  const std::string& TypeOf(size_t node) const { return types_[node]; }

 private:
  std::vector<std::optional<std::string>> texts_;
  std::vector<std::string> types_;
};

}  // namespace aicf
