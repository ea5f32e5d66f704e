/// Convolutions whose results lie in the model's order, as a program's outputs do.
#pragma once

#include "compiler/passes/pass.h"

namespace aicf {

/// A temporary for an image of that shape and the buffer's dtype, channels innermost.
ir::LoweredBuffer InWholePixels(const ir::LoweredBuffer& buffer, const Dims& shape);

/// Such a convolution stores whole pixels (channels innermost) and a step behind it copies them,
/// where that is predicted to be faster (SlowerThanPixels): kernels for tensor cores store whole
/// pixels alone. Every split is a layout decision of `store-pixels`.
void StoreWholeResults(ir::Lowered& lowered, PassContext& context);

}  // namespace aicf
