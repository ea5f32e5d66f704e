/// Constants of a product whose rows are normalised in its epilogue (norm_moments.h): the weights
/// with the gain of their terms, and the sums over terms that go with it.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/lowered.h"

namespace aicf {

/// The elements of the view along its last axis, at index 0 of all other axes.
std::vector<double> LastAxisOf(const ir::LoweredBuffer& constant, const abi::View& view);

class ScaledWeights {
 public:
  /// Empty, or why the operand [.., K, N] of that buffer has no such constants, as "name:
  /// sentence".
  static std::string Refusal(const ir::LoweredBuffer& buffer, const abi::View& view);

  /// `gain` and `shift` have K numbers, or none. REQUIRES: Refusal is empty. Cost: K * N.
  ScaledWeights(const ir::LoweredBuffer& buffer, const abi::View& view,
                const std::vector<double>& gain, const std::vector<double>& shift);

  /// Empty, or why the weights cannot be stored with their gain.
  const std::string& refusal() const { return refusal_; }
  /// gain[k] * W[k, n], in the places and in the dtype of W[k, n].
  ir::LoweredBuffer weights() const { return weights_; }
  /// The sums over k of what is stored, f32 [N].
  ir::LoweredBuffer sums() const { return sums_; }
  /// The sums over k of shift[k] * W[k, n], f32 [N].
  ir::LoweredBuffer shifted() const { return shifted_; }

 private:
  std::string refusal_;
  ir::LoweredBuffer weights_, sums_, shifted_;
};

}  // namespace aicf
