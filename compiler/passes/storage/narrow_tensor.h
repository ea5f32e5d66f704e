/// Constants in 16 bits: what they lose, and their rounded copies.
#pragma once

#include <string>

#include "compiler/ir/tensor.h"

namespace aicf::storage {

/// The largest finite magnitude of a 16-bit dtype.
double LargestOf(DType narrow);

/// Empty, or why the f32 tensor does not survive rounding to `narrow`: a finite element becomes
/// infinite, or elements below the normal range lose their digits. Cost: one pass over the data.
std::string LosesDigits(const ir::Tensor& tensor, DType narrow);

/// The f32 tensor rounded to nearest even.
ir::Tensor Narrowed(const ir::Tensor& tensor, DType narrow);

}  // namespace aicf::storage
