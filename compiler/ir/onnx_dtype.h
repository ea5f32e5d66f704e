/// ONNX's element type numbers.
#pragma once

#include <cstdint>
#include <string>

#include "base/dtype.h"
#include "base/status.h"

namespace aicf {

/// Errors: kUnsupported with the type's name: strings, complex numbers, and numbers that the
/// standard does not define.
Result<DType> DTypeOfOnnx(int64_t data_type);

/// "FLOAT", "INT4", ..., or "999" for a number without a name.
std::string OnnxTypeName(int64_t data_type);

/// Inverse of OnnxTypeName; 0 (UNDEFINED) for other text.
int64_t OnnxTypeOf(std::string_view name);

}  // namespace aicf
