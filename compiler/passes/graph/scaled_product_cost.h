/// Whether a product of float8 codes with scales of blocks is worth computing as one.
#pragma once

#include <string>

#include "base/dtype.h"
#include "compiler/passes/pass.h"

namespace aicf {

/// [rows, length] x [length, columns], both of dtype `codes`, with scales of `scale_terms` terms,
/// those on the right of `scale_columns` columns. `along_sum`: the right codes lie along the sum,
/// as constants are stored.
struct ScaledShape {
  DType codes = DType::kF8E4M3FN;
  int64_t rows = 0, columns = 0, length = 0;
  int64_t scale_terms = 0, scale_columns = 1;
  bool along_sum = true;
};

/// Empty, or why the product is no faster than one of dequantised floats, or computes in another
/// precision than the options ask for: by what the target's kernels are predicted to take for
/// either, in the layouts that lowering gives them.
std::string ScaledProductRefusal(const ScaledShape& shape, const PassContext& context);

}  // namespace aicf
