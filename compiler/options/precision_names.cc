#include "compiler/options/compile_options.h"

namespace aicf {

std::string_view PrecisionName(DType precision) {
  if (precision == DType::kF16) return "fp16";
  return precision == DType::kBF16 ? "bf16" : "fp32";
}

Result<DType> ParsePrecision(std::string_view name) {
  for (DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
    if (PrecisionName(dtype) == name) return dtype;
  }
  if (name == "int8" || name == "fp8") {
    return Error(Code::kUnsupported, "--precision=", name, ": models are not quantised here yet; ",
                 "a model that is quantised already compiles as it is");
  }
  return Error(Code::kInvalidArgument, "--precision: expected fp32, fp16 or bf16, got '", name,
               "'");
}

}  // namespace aicf
