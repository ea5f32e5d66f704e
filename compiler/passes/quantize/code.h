/// Codes of quantised values: which 8-bit type, scale and zero point stand for a range of floats.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "compiler/passes/quantize/calibration.h"
#include "compiler/passes/quantize/equalize.h"

namespace aicf::quantize {

/// A code c stands for (c - zero) * scale. Values beyond the codes get the last one.
struct ValueCode {
  DType dtype = DType::kI8;  ///< kI8, kU8 or kF8E4M3FN
  float scale = 1;           ///< above 0
  int zero = 0;              ///< kU8 only
  /// Where there are factors, a code of a channel stands for the number above times the channel's
  /// factor.
  Channels channels = {};
  std::vector<float> factors = {};

  friend bool operator==(const ValueCode&, const ValueCode&) = default;
};

/// The largest magnitude that weights and two-sided values have as codes: 127 or 448.
double LargestCode(DType dtype);

/// The scale by which `limit` becomes `largest`; 1 where there is nothing to scale.
float ScaleFor(double limit, double largest);

/// What may be assumed of a value, and of the products that read it.
struct CodeRules {
  DType precision = DType::kI8;  ///< kI8 or kF8E4M3FN
  bool never_negative = false;   ///< whatever the inputs are
  bool takes_zero = false;       ///< each product can take a zero point off its sums
  Channels channels = {};        ///< of the value, where products agree on them
};
/// kI8: u8 where the value is never negative, u8 with a zero point where that makes steps a quarter
/// finer, otherwise i8.
ValueCode CodeOf(const CalibratedValue& value, RangeMethod method, const CodeRules& rules);

/// "u8, scale 0.0123, zero point 3, minmax": the choice of a decision.
std::string CodeText(const ValueCode& code, RangeMethod method);

/// What the elements of each channel are multiplied by before they are rounded to codes; a single
/// number where channels have no factors.
std::vector<float> Inverses(const ValueCode& code);

/// Rounds every element to (c - zero) * scale of its code c. That leaves out the factor of its
/// channel, which the weights take, and so is what the quantised program multiplies.
void RoundToCodes(const ValueCode& code, std::span<const float> from, std::span<float> to);

}  // namespace aicf::quantize
