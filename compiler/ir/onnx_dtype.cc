#include "compiler/ir/onnx_dtype.h"

#include <optional>

namespace aicf {
namespace {

struct TypeRow {
  std::string_view name;
  std::optional<DType> dtype;
};

// The position of a row is the number that ONNX gives the type.
constexpr TypeRow kTypes[] = {
    {"UNDEFINED", {}},
    {"FLOAT", DType::kF32},
    {"UINT8", DType::kU8},
    {"INT8", DType::kI8},
    {"UINT16", DType::kU16},
    {"INT16", DType::kI16},
    {"INT32", DType::kI32},
    {"INT64", DType::kI64},
    {"STRING", {}},
    {"BOOL", DType::kBool},
    {"FLOAT16", DType::kF16},
    {"DOUBLE", DType::kF64},
    {"UINT32", DType::kU32},
    {"UINT64", DType::kU64},
    {"COMPLEX64", {}},
    {"COMPLEX128", {}},
    {"BFLOAT16", DType::kBF16},
    {"FLOAT8E4M3FN", DType::kF8E4M3FN},
    {"FLOAT8E4M3FNUZ", DType::kF8E4M3FNUZ},
    {"FLOAT8E5M2", DType::kF8E5M2},
    {"FLOAT8E5M2FNUZ", DType::kF8E5M2FNUZ},
    {"UINT4", DType::kU4},
    {"INT4", DType::kI4},
    {"FLOAT4E2M1", DType::kF4E2M1},
    {"FLOAT8E8M0", DType::kF8E8M0},
    {"UINT2", DType::kU2},
    {"INT2", DType::kI2},
};
constexpr int64_t kTypeCount = std::size(kTypes);

}  // namespace

Result<DType> DTypeOfOnnx(int64_t data_type) {
  if (data_type >= 0 && data_type < kTypeCount && kTypes[data_type].dtype) {
    return *kTypes[data_type].dtype;
  }
  return Error(Code::kUnsupported, "element type ", OnnxTypeName(data_type), " is not supported");
}

std::string OnnxTypeName(int64_t data_type) {
  if (data_type < 0 || data_type >= kTypeCount) return std::to_string(data_type);
  return std::string(kTypes[data_type].name);
}

int64_t OnnxTypeOf(std::string_view name) {
  for (int64_t i = 0; i < kTypeCount; ++i) {
    if (kTypes[i].name == name) return i;
  }
  return 0;
}

}  // namespace aicf
