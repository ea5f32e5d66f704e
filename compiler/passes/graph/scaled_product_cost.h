/// Whether a product of float8 codes is worth computing as one.
#pragma once

#include <string>

#include "base/dtype.h"
#include "compiler/passes/pass.h"

namespace aicf {

/// A product [rows, length] x [length, columns], both operands of dtype `codes`. A scale belongs to
/// `scale_terms` terms, and on the right to `scale_columns` columns; 0 terms: blocks have no
/// scales, and what the result is multiplied by is no part of the product. `along_sum`: the right
/// codes lie in memory along the sum, as constants are stored.
struct ScaledShape {
  DType codes = DType::kF8E4M3FN;
  int64_t rows = 0, columns = 0, length = 0;
  int64_t scale_terms = 0, scale_columns = 1;
  bool along_sum = true;
};

/// Empty, or why the product is no faster than a product of dequantised floats, or computes in
/// another precision than the options ask for. It compares what the target's kernels are predicted
/// to take for either, in the layouts that lowering gives them.
std::string ScaledProductRefusal(const ScaledShape& shape, const PassContext& context);

}  // namespace aicf
