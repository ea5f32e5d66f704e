#include "compiler/options/compile_options.h"

namespace aicf {

std::string_view PrecisionName(DType precision) {
  switch (precision) {
    case DType::kF16:
      return "fp16";
    case DType::kBF16:
      return "bf16";
    case DType::kI8:
      return "int8";
    case DType::kF8E4M3FN:
      return "fp8";
    default:
      return "fp32";
  }
}

Result<DType> ParsePrecision(std::string_view name) {
  for (DType dtype : {DType::kF32, DType::kF16, DType::kBF16, DType::kI8, DType::kF8E4M3FN}) {
    if (PrecisionName(dtype) == name) return dtype;
  }
  return Error(Code::kInvalidArgument, "--precision: expected fp32, fp16, bf16, int8 or fp8, got '",
               name, "'");
}

bool IsQuantized(DType precision) {
  return precision == DType::kI8 || precision == DType::kF8E4M3FN;
}

}  // namespace aicf
