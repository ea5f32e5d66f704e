/// How the text forms of both IRs write a constant's elements: "[1, -2]" up to sixteen elements,
/// "@<hash of the bytes>" above.
#pragma once

#include <string>

#include "base/scanner.h"
#include "compiler/ir/text.h"

namespace aicf::ir {

inline constexpr int64_t kMaxPrintedElements = 16;

std::string ConstantText(const Tensor& tensor);

/// Reads either form. A hash that `resolve` does not know gives zeros.
/// Errors: kInvalidArgument when the number of elements differs from the shape's, or when a
/// resolved tensor has another dtype or size.
Result<Tensor> ParseConstantText(Scanner& in, DType dtype, const Dims& shape,
                                 const ConstantResolver& resolve);

}  // namespace aicf::ir
