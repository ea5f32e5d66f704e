/// Einsum's equation as labels of axes.
#pragma once

#include <string_view>
#include <vector>

#include "base/status.h"

namespace aicf {

/// A label per axis: the letter's code, or kEllipsis + k for the axis k places from the end of an
/// ellipsis, so that ellipses of different length line up.
inline constexpr int kEllipsis = 256;
using Labels = std::vector<int>;

struct EinsumEquation {
  std::vector<Labels> operands;
  Labels result;
};

/// Reads an equation for operands of the given ranks. Without "->" the result has the ellipsis and
/// then, in alphabetical order, the letters that occur once. Errors: kBadModel naming the rule.
Result<EinsumEquation> ParseEinsum(std::string_view text, const std::vector<int>& ranks);

}  // namespace aicf
