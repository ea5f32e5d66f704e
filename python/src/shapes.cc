#include "python/src/shapes.h"

namespace aicf::python {
namespace {

using Code = nanobind::dlpack::dtype_code;
using Foreign = nanobind::dlpack::dtype;

struct Row {
  DType dtype;
  Code code;
  uint8_t bits;
};

constexpr Row kRows[] = {
    {DType::kF32, Code::Float, 32},
    {DType::kF64, Code::Float, 64},
    {DType::kF16, Code::Float, 16},
    {DType::kBF16, Code::Bfloat, 16},
    {DType::kI8, Code::Int, 8},
    {DType::kI16, Code::Int, 16},
    {DType::kI32, Code::Int, 32},
    {DType::kI64, Code::Int, 64},
    {DType::kU8, Code::UInt, 8},
    {DType::kU16, Code::UInt, 16},
    {DType::kU32, Code::UInt, 32},
    {DType::kU64, Code::UInt, 64},
    {DType::kBool, Code::Bool, 8},
    {DType::kF8E4M3FN, Code::Float8_E4M3FN, 8},
    {DType::kF8E4M3FNUZ, Code::Float8_E4M3FNUZ, 8},
    {DType::kF8E5M2, Code::Float8_E5M2, 8},
    {DType::kF8E5M2FNUZ, Code::Float8_E5M2FNUZ, 8},
    {DType::kF8E8M0, Code::Float8_E8M0FNU, 8},
};

Foreign Make(Code code, uint8_t bits) { return {static_cast<uint8_t>(code), bits, 1}; }

}  // namespace

Result<Dims> ToDims(const Shape& shape) {
  if (shape.size() > static_cast<size_t>(kMaxRank)) {
    return Error(aicf::Code::kInvalidArgument, "a shape of ", shape.size(),
                 " axes; a tensor has at most ", kMaxRank);
  }
  return Dims(std::span(shape));
}

Result<DType> ToDType(const std::string& name) {
  const std::optional<DType> dtype = ParseDType(name);
  if (dtype) return *dtype;
  return Error(aicf::Code::kInvalidArgument, "'", name, "' is no dtype");
}

Foreign ToDlpack(DType dtype) {
  for (const Row& row : kRows) {
    if (row.dtype == dtype) return Make(row.code, row.bits);
  }
  return Make(Code::UInt, 8);
}

Result<DType> FromDlpack(Foreign dtype) {
  for (const Row& row : kRows) {
    if (Make(row.code, row.bits) == dtype) return row.dtype;
  }
  return Error(aicf::Code::kInvalidArgument,
               "the tensor has an element type that aicf lacks (DLPack code ",
               static_cast<int>(dtype.code), ", ", static_cast<int>(dtype.bits), " bits, ",
               dtype.lanes, " lanes)");
}

}  // namespace aicf::python
