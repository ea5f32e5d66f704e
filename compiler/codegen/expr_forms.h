/// Operators that CUDA device code computes in fewer instructions than their plain form takes, to
/// the same bits.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/abi/expr.h"

namespace aicf {

/// The nodes of one expression that have such a form:
///   - an f32 that is rounded, perhaps shifted by a zero point, clamped to the codes of i8 or u8
///     and cast to them, and such a code, or any other of them, as f32, perhaps less a zero point:
///     sums and bytes in place of conversions (kernels/cuda/common/codes.cuh);
///   - the largest and smallest values of an integer type of 8 or 16 bits, between which an f32 is
///     clamped before it is cast to that type, are those of the instruction that casts, which also
///     rounds where the clamped value has just been rounded;
///   - what is clamped between the largest numbers of f8e4m3fn is stored in it without another
///     look;
///   - a quotient of f32 by a constant that is rounded and clamped, as codes are, is a product with
///     the reciprocal, corrected by its remainder.
class ExprForms {
 public:
  /// `input(k)` is the text of input k's value. Keeps neither argument.
  ExprForms(const abi::Expr& expr, const std::function<std::string(int)>& input);

  /// The text of a node in place of its operator; empty where no other node reads its value any
  /// more; nothing where the plain form does. Names other nodes as ExprStatements
  /// (compiler/codegen/expr_source.h) does.
  const std::optional<std::string>& Of(size_t node) const { return texts_[node]; }
  /// Whether the node's value is a ByteCode: a code that is the last byte of a word. No operator
  /// reads it, but it may be a result.
  bool IsByteCode(size_t node) const { return byte_codes_[node]; }

 private:
  std::vector<std::optional<std::string>> texts_;
  std::vector<bool> byte_codes_;
};

}  // namespace aicf
