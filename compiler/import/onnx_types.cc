#include "compiler/import/onnx_types.h"

#include <algorithm>

#include "compiler/ir/onnx_dtype.h"

namespace aicf {
namespace {

Status CheckTensor(const onnx::TypeProto& type) {
  if (type.has_tensor_type()) return OkStatus();
  const std::string_view what = type.has_sequence_type()   ? "is a sequence, not a tensor"
                                : type.has_optional_type() ? "is an optional, not a tensor"
                                : type.has_map_type()      ? "is a map, not a tensor"
                                                           : "is not a tensor";
  return Error(Code::kUnsupported, what);
}

}  // namespace

Result<ir::Value> DeclaredValue(const onnx::ValueInfoProto& info) {
  if (!info.has_type()) return Error(Code::kBadModel, "has no type");
  AICF_RETURN_IF_ERROR(CheckTensor(info.type()));
  const auto& type = info.type().tensor_type();
  ir::Value value;
  value.name = info.name();
  AICF_ASSIGN_OR_RETURN(value.dtype, DTypeOfOnnx(type.elem_type()));
  if (!type.has_shape()) return value;
  if (type.shape().dim_size() > kMaxRank) {
    return Error(Code::kUnsupported, "has rank ", type.shape().dim_size(), ", at most ", kMaxRank,
                 " is supported");
  }
  for (const auto& dim : type.shape().dim()) {
    // Where the standard has no value for an extent that is open, some converters write -1, or the
    // same name "?" for all of them.
    const bool fixed = dim.has_dim_value() && dim.dim_value() != -1;
    if (fixed && dim.dim_value() < 0)
      return Error(Code::kBadModel, "has the extent ", dim.dim_value());
    value.shape.push_back(fixed ? dim.dim_value() : -1);
    const bool named = !fixed && dim.dim_param() != "?";
    value.symbols.push_back(named ? dim.dim_param() : std::string());
  }
  value.shape_known = std::ranges::find(value.shape, -1) == value.shape.end();
  if (value.shape_known && !ElementCount(value.shape)) {
    return Error(Code::kBadModel, "has the impossible shape ", ToString(value.shape));
  }
  return value;
}

Status CheckOutputType(const onnx::TypeProto& type) {
  if (type.has_sequence_type()) return CheckOutputType(type.sequence_type().elem_type());
  if (type.has_optional_type()) return CheckOutputType(type.optional_type().elem_type());
  if (type.has_map_type() || type.has_sparse_tensor_type()) return CheckTensor(type);
  const int32_t element = type.tensor_type().elem_type();
  return element == onnx::TensorProto::UNDEFINED ? OkStatus() : DTypeOfOnnx(element).status();
}

}  // namespace aicf
