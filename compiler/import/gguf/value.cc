#include "compiler/import/gguf/value.h"

#include <optional>
#include <utility>

#include "base/checked.h"

namespace aicf::gguf {
namespace {

struct TypeInfo {
  std::string_view text;
  uint64_t bytes;
};
constexpr TypeInfo kTypes[] = {
#define AICF_GGUF_VALUE(id, text, bytes) {text, bytes},
#include "compiler/import/gguf/value_types.def"
#undef AICF_GGUF_VALUE
};

const TypeInfo& InfoOfType(ValueType type) { return kTypes[static_cast<int>(type)]; }

Result<ValueType> TypeOf(uint32_t number) {
  if (number < std::size(kTypes)) return static_cast<ValueType>(number);
  return Error(Code::kBadModel, "value type ", number, " is unknown, expected 0 to ",
               std::size(kTypes) - 1);
}

template <class T>
T Load(std::span<const std::byte> bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

// An integer of any type: its value in 64 bits, and whether that is to be read as unsigned.
struct Integer {
  bool is_unsigned;
  uint64_t bits;
};

std::optional<Integer> LoadInteger(ValueType type, std::span<const std::byte> bytes) {
  const auto from = [](int64_t v) { return Integer{false, static_cast<uint64_t>(v)}; };
  switch (type) {
    case ValueType::kU8:
      return Integer{true, Load<uint8_t>(bytes)};
    case ValueType::kU16:
      return Integer{true, Load<uint16_t>(bytes)};
    case ValueType::kU32:
      return Integer{true, Load<uint32_t>(bytes)};
    case ValueType::kU64:
      return Integer{true, Load<uint64_t>(bytes)};
    case ValueType::kI8:
      return from(Load<int8_t>(bytes));
    case ValueType::kI16:
      return from(Load<int16_t>(bytes));
    case ValueType::kI32:
      return from(Load<int32_t>(bytes));
    case ValueType::kI64:
      return from(Load<int64_t>(bytes));
    default:
      return std::nullopt;
  }
}

Status CheckBool(std::span<const std::byte> bytes) {
  for (std::byte b : bytes) {
    if (b > std::byte{1}) {
      return Error(Code::kBadModel, "a bool is ", std::to_integer<int>(b), ", expected 0 or 1");
    }
  }
  return OkStatus();
}

Status Mismatch(ValueType found, std::string_view expected) {
  return Error(Code::kBadModel, "is ", InfoOfType(found).text, ", expected ", expected);
}

template <class T>
Result<T> ConvertInteger(ValueType type, std::span<const std::byte> bytes) {
  const std::optional<Integer> integer = LoadInteger(type, bytes);
  if (!integer) return Mismatch(type, "an integer");
  const auto value = static_cast<int64_t>(integer->bits);
  const bool fits =
      integer->is_unsigned ? std::in_range<T>(integer->bits) : std::in_range<T>(value);
  if (fits) return static_cast<T>(integer->bits);
  return Error(Code::kBadModel, "is ", integer->is_unsigned ? StrCat(integer->bits) : StrCat(value),
               ", which does not fit ",
               std::is_signed_v<T> ? "an integer of " : "an unsigned integer of ", sizeof(T) * 8,
               " bits");
}

template <class T>
Result<T> ConvertScalar(ValueType type, std::span<const std::byte> bytes) {
  if constexpr (std::is_same_v<T, bool>) {
    if (type != ValueType::kBool) return Mismatch(type, "a bool");
    return bytes[0] == std::byte{1};
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    if (type != ValueType::kString) return Mismatch(type, "a string");
    return T(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  } else if constexpr (std::is_same_v<T, float>) {
    if (type == ValueType::kF32) return Load<float>(bytes);
    if (type == ValueType::kF64) return static_cast<float>(Load<double>(bytes));
    return Mismatch(type, "a float");
  } else {
    return ConvertInteger<T>(type, bytes);
  }
}

}  // namespace

Result<Value> Value::Read(uint32_t type, Cursor& in) { return Read(type, in, 0); }

Result<Value> Value::Read(uint32_t type, Cursor& in, int depth) {
  Value value;
  AICF_ASSIGN_OR_RETURN(value.type_, TypeOf(type));
  if (value.type_ == ValueType::kArray) {
    AICF_RETURN_IF_ERROR(value.ReadElements(in, depth));
  } else if (value.type_ == ValueType::kString) {
    AICF_ASSIGN_OR_RETURN(const std::string_view text, in.String("a string"));
    value.bytes_ = std::as_bytes(std::span(text));
  } else {
    const TypeInfo& info = InfoOfType(value.type_);
    AICF_ASSIGN_OR_RETURN(value.bytes_, in.Take(info.bytes, info.text));
    if (value.type_ == ValueType::kBool) AICF_RETURN_IF_ERROR(CheckBool(value.bytes_));
  }
  return value;
}

Status Value::ReadElements(Cursor& in, int depth) {
  if (depth == kMaxArrayDepth) {
    return Error(Code::kBadModel, "arrays are nested more than ", kMaxArrayDepth, " deep");
  }
  AICF_ASSIGN_OR_RETURN(const uint32_t number, in.Number<uint32_t>("an array's type"));
  AICF_ASSIGN_OR_RETURN(element_, TypeOf(number));
  AICF_ASSIGN_OR_RETURN(count_, in.Number<uint64_t>("an array's count"));
  if (const uint64_t each = InfoOfType(element_).bytes; each != 0) {
    uint64_t total = 0;
    if (!CheckedMul(count_, each, &total)) {
      return Error(Code::kBadModel, "an array of ", count_, " values is larger than any file");
    }
    AICF_ASSIGN_OR_RETURN(bytes_, in.Take(total, "an array"));
    return element_ == ValueType::kBool ? CheckBool(bytes_) : OkStatus();
  }
  // The count allocates nothing: the elements are read one by one, and each takes at least 8 bytes
  // of the file.
  const Cursor start = in;
  for (uint64_t i = 0; i < count_; ++i) {
    AICF_RETURN_IF_ERROR(Read(number, in, depth + 1).status());
  }
  bytes_ = *Cursor(start).Take(in.position() - start.position(), "an array");
  return OkStatus();
}

template <>
Result<std::vector<Value>> Value::As() const {
  if (!is_array()) return Mismatch(type_, "an array of arrays");
  if (element_ != ValueType::kArray) {
    return Error(Code::kBadModel, "is an array of which each element is ",
                 InfoOfType(element_).text, ", expected an array of arrays");
  }
  std::vector<Value> elements;
  elements.reserve(count_);
  Cursor in(bytes_);
  for (uint64_t i = 0; i < count_; ++i) {
    AICF_ASSIGN_OR_RETURN(const Value element, Read(static_cast<uint32_t>(element_), in, 1));
    elements.push_back(element);
  }
  return elements;
}

// One element after the other, so that a large array of bytes needs no large list of values.
template <class T>
Result<std::vector<T>> Value::Convert() const {
  if (!is_array()) return Mismatch(type_, "an array");
  std::vector<T> out;
  if (element_ == ValueType::kArray && count_ > 0) {
    return Mismatch(element_, "no array").WithContext("element 0");
  }
  out.reserve(count_);
  Cursor in(bytes_);
  for (uint64_t i = 0; i < count_; ++i) {
    AICF_ASSIGN_OR_RETURN(const Value element, Read(static_cast<uint32_t>(element_), in, 1));
    auto value = ConvertScalar<T>(element.type_, element.bytes_);
    if (!value.ok()) return value.status().WithContext(StrCat("element ", i));
    out.push_back(*value);
  }
  return out;
}

#define AICF_GGUF_AS(T)                      \
  template <>                                \
  Result<T> Value::As() const {              \
    return ConvertScalar<T>(type_, bytes_);  \
  }                                          \
  template <>                                \
  Result<std::vector<T>> Value::As() const { \
    return Convert<T>();                     \
  }
AICF_GGUF_AS(bool)
AICF_GGUF_AS(std::string_view)
AICF_GGUF_AS(float)
AICF_GGUF_AS(int32_t)
AICF_GGUF_AS(uint32_t)
AICF_GGUF_AS(int64_t)
AICF_GGUF_AS(uint64_t)
#undef AICF_GGUF_AS

}  // namespace aicf::gguf
