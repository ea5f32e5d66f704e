#include "compiler/import/onnx_tensor.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "base/checked.h"
#include "compiler/ir/onnx_dtype.h"

namespace aicf {
namespace {

static_assert(std::endian::native == std::endian::little, "raw_data is little-endian");

// The typed field that the standard assigns to an element type.
std::string_view FieldOf(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return "float_data";
    case DType::kF64:
      return "double_data";
    case DType::kI64:
      return "int64_data";
    case DType::kU32:
    case DType::kU64:
      return "uint64_data";
    default:
      return "int32_data";
  }
}

struct TypedField {
  std::string_view name;
  int64_t count;
};

// The typed field that holds values; an error when several do, or one beside raw_data.
Result<TypedField> UsedField(const onnx::TensorProto& t) {
  const TypedField fields[] = {
      {"float_data", t.float_data_size()},   {"double_data", t.double_data_size()},
      {"int32_data", t.int32_data_size()},   {"int64_data", t.int64_data_size()},
      {"uint64_data", t.uint64_data_size()}, {"string_data", t.string_data_size()},
  };
  TypedField used{"", 0};
  for (const TypedField& f : fields) {
    if (f.count == 0) continue;
    if (used.count > 0) return Error(Code::kBadModel, "has both ", used.name, " and ", f.name);
    used = f;
  }
  if (used.count > 0 && !t.raw_data().empty()) {
    return Error(Code::kBadModel, "has both raw_data and ", used.name);
  }
  return used;
}

template <class T, class Source>
Result<ir::Tensor> FromTyped(DType dtype, const Dims& shape, const Source& values) {
  std::vector<T> out;
  out.reserve(values.size());
  for (const auto v : values) {
    using Wide = std::conditional_t<std::is_floating_point_v<T>, T,
                                    std::common_type_t<decltype(v), int64_t>>;
    if constexpr (std::is_integral_v<T>) {
      if (static_cast<Wide>(v) < static_cast<Wide>(std::numeric_limits<T>::min()) ||
          static_cast<Wide>(v) > static_cast<Wide>(std::numeric_limits<T>::max())) {
        return Error(Code::kBadModel, "holds ", v, ", which is no ", DTypeName(dtype));
      }
    }
    out.push_back(static_cast<T>(v));
  }
  return ir::Tensor::FromValues<T>(dtype, shape, std::span<const T>(out));
}

Result<ir::Tensor> FromInt32(const onnx::TensorProto& t, DType dtype, const Dims& shape) {
  if (dtype == DType::kBool) {
    std::vector<uint8_t> out;
    for (int32_t v : t.int32_data()) out.push_back(v != 0 ? 1 : 0);
    return ir::Tensor::FromValues<uint8_t>(dtype, shape, std::span<const uint8_t>(out));
  }
  return VisitStorage(dtype, [&](auto tag) -> Result<ir::Tensor> {
    return FromTyped<decltype(tag)>(dtype, shape, t.int32_data());
  });
}

// How many elements a byte of raw data holds; the first one has the low bits.
int ElementsPerByte(DType dtype) {
  switch (dtype) {
    case DType::kI4:
    case DType::kU4:
    case DType::kF4E2M1:
      return 2;
    case DType::kI2:
    case DType::kU2:
      return 4;
    default:
      return 1;
  }
}

// Unpacks elements to one per byte; the sign of signed ones is extended. REQUIRES: enough bytes.
ir::Tensor Unpacked(DType dtype, const Dims& shape, std::span<const std::byte> packed) {
  const int per_byte = ElementsPerByte(dtype), bits = 8 / per_byte;
  const unsigned sign = KindOf(dtype) == DTypeKind::kSigned ? 1u << (bits - 1) : 0u;
  std::vector<std::byte> out(static_cast<size_t>(*ElementCount(shape)));
  for (size_t i = 0; i < out.size(); ++i) {
    const size_t at = i % static_cast<size_t>(per_byte) * static_cast<size_t>(bits);
    const auto byte = std::to_integer<unsigned>(packed[i / static_cast<size_t>(per_byte)]);
    const unsigned code = byte >> at & ((1u << bits) - 1);
    out[i] = static_cast<std::byte>((code ^ sign) - sign);
  }
  return ir::Tensor::Own(dtype, shape, std::move(out));
}

// Each value of int32_data is one byte of packed elements.
Result<ir::Tensor> FromPackedInt32(const onnx::TensorProto& t, DType dtype, const Dims& shape) {
  std::vector<std::byte> bytes;
  bytes.reserve(static_cast<size_t>(t.int32_data_size()));
  for (int32_t v : t.int32_data()) {
    if (v < -128 || v > 255) return Error(Code::kBadModel, "holds ", v, ", which is no byte");
    bytes.push_back(static_cast<std::byte>(v));
  }
  return Unpacked(dtype, shape, bytes);
}

Result<ir::Tensor> ImportTyped(const onnx::TensorProto& t, DType dtype, const Dims& shape,
                               const TypedField& field) {
  if (field.count > 0 && field.name != FieldOf(dtype)) {
    return Error(Code::kBadModel, "is ", DTypeName(dtype), " but holds ", field.name, ", expected ",
                 FieldOf(dtype));
  }
  if (field.count != CeilDiv(*ElementCount(shape), ElementsPerByte(dtype))) {
    return Error(Code::kBadModel, "has ", field.count, " values for shape ", ToString(shape));
  }
  switch (dtype) {
    case DType::kF32:
      return FromTyped<float>(dtype, shape, t.float_data());
    case DType::kF64:
      return FromTyped<double>(dtype, shape, t.double_data());
    case DType::kI64:
      return FromTyped<int64_t>(dtype, shape, t.int64_data());
    case DType::kU64:
      return FromTyped<uint64_t>(dtype, shape, t.uint64_data());
    case DType::kU32:
      return FromTyped<uint32_t>(dtype, shape, t.uint64_data());
    default:
      return ElementsPerByte(dtype) > 1 ? FromPackedInt32(t, dtype, shape)
                                        : FromInt32(t, dtype, shape);
  }
}

// Booleans are 0 or 1 everywhere else, so any other byte is made 1 here.
ir::Tensor NormalizeBools(const ir::Tensor& t) {
  const auto is_bool = [](std::byte b) { return b <= std::byte{1}; };
  if (t.dtype() != DType::kBool || std::ranges::all_of(t.bytes(), is_bool)) return t;
  std::vector<std::byte> bytes(t.bytes().begin(), t.bytes().end());
  for (std::byte& b : bytes) b = b == std::byte{0} ? b : std::byte{1};
  return ir::Tensor::Own(DType::kBool, t.shape(), std::move(bytes));
}

Result<ir::Tensor> ImportExternal(const onnx::TensorProto& t, DType dtype, const Dims& shape,
                                  uint64_t bytes, const TensorSource& source) {
  ExternalEntries entries;
  for (const auto& e : t.external_data()) entries.emplace_back(e.key(), e.value());
  AICF_ASSIGN_OR_RETURN(std::vector<std::byte> data,
                        ReadExternalData(source.location, entries, bytes));
  if (ElementsPerByte(dtype) > 1) return Unpacked(dtype, shape, data);
  return NormalizeBools(ir::Tensor::Own(dtype, shape, std::move(data)));
}

Status CheckStorage(const onnx::TensorProto& t, const TypedField& field) {
  if (t.has_segment()) return Error(Code::kUnsupported, "is stored in segments");
  const bool external = t.data_location() == onnx::TensorProto::EXTERNAL;
  if (external && (field.count > 0 || !t.raw_data().empty())) {
    return Error(Code::kBadModel, "has external data and data in the model");
  }
  if (!external && t.external_data_size() > 0) {
    return Error(Code::kBadModel, "names external data but is not stored there");
  }
  return OkStatus();
}

}  // namespace

Result<Dims> ImportDims(const google::protobuf::RepeatedField<int64_t>& dims) {
  if (dims.size() > kMaxRank) {
    return Error(Code::kUnsupported, "has rank ", dims.size(), ", at most ", kMaxRank,
                 " is supported");
  }
  const Dims shape(std::span<const int64_t>(dims.data(), dims.size()));
  if (ElementCount(shape)) return shape;
  return Error(Code::kBadModel, "has the impossible shape ", ToListString(shape));
}

Result<ir::Tensor> ImportTensor(const onnx::TensorProto& proto, const TensorSource& source) {
  AICF_ASSIGN_OR_RETURN(const DType dtype, DTypeOfOnnx(proto.data_type()));
  AICF_ASSIGN_OR_RETURN(const Dims shape, ImportDims(proto.dims()));
  AICF_ASSIGN_OR_RETURN(const TypedField field, UsedField(proto));
  AICF_RETURN_IF_ERROR(CheckStorage(proto, field));
  int64_t bytes = 0;
  if (!CheckedMul(*ElementCount(shape), DTypeBytes(dtype), &bytes)) {
    return Error(Code::kBadModel, "has the impossible shape ", ToString(shape));
  }
  bytes = CeilDiv(bytes, ElementsPerByte(dtype));
  if (proto.data_location() == onnx::TensorProto::EXTERNAL) {
    return ImportExternal(proto, dtype, shape, static_cast<uint64_t>(bytes), source);
  }
  if (!proto.has_raw_data() || field.count > 0) return ImportTyped(proto, dtype, shape, field);
  const std::string& raw = proto.raw_data();
  if (static_cast<int64_t>(raw.size()) != bytes) {
    return Error(Code::kBadModel, "has ", raw.size(), " bytes of raw_data, expected ", bytes,
                 " for ", DTypeName(dtype), " ", ToString(shape));
  }
  const auto view = std::as_bytes(std::span(raw.data(), raw.size()));
  if (ElementsPerByte(dtype) > 1) return Unpacked(dtype, shape, view);
  return NormalizeBools(ir::Tensor(dtype, shape, view, source.owner));
}

}  // namespace aicf
