#include "compiler/ir/constant_text.h"

#include <algorithm>
#include <cstring>

#include "base/checked.h"
#include "base/float16.h"
#include "base/float8.h"
#include "base/hash.h"

namespace aicf::ir {
namespace {

void Append(std::vector<std::byte>& out, const void* value, size_t bytes) {
  const auto* first = static_cast<const std::byte*>(value);
  out.insert(out.end(), first, first + bytes);
}

void AppendFloat(std::vector<std::byte>& out, DType dtype, double value) {
  const float narrow = static_cast<float>(value);
  if (dtype == DType::kF64) return Append(out, &value, sizeof value);
  if (dtype == DType::kF32) return Append(out, &narrow, sizeof narrow);
  if (IsStorageOnly(dtype)) {
    const uint8_t code = F32ToFloat8(narrow, dtype);
    return Append(out, &code, sizeof code);
  }
  const uint16_t half = dtype == DType::kF16 ? F32ToF16(narrow) : F32ToBF16(narrow);
  Append(out, &half, sizeof half);
}

Status ParseElement(Scanner& in, DType dtype, std::vector<std::byte>& out) {
  if (IsFloat(dtype)) {
    AICF_ASSIGN_OR_RETURN(const double value, in.Double());
    AppendFloat(out, dtype, value);
    return OkStatus();
  }
  // Integers are stored little-endian, so the low bytes of the int64 are the narrow value.
  AICF_ASSIGN_OR_RETURN(const int64_t value, in.Int());
  Append(out, &value, static_cast<size_t>(DTypeBytes(dtype)));
  return OkStatus();
}

Result<Tensor> ParseElements(Scanner& in, DType dtype, const Dims& shape) {
  std::vector<std::byte> bytes;
  int64_t count = 0;
  while (!in.Accept("]")) {
    if (count > 0) AICF_RETURN_IF_ERROR(in.Expect(","));
    AICF_RETURN_IF_ERROR(ParseElement(in, dtype, bytes));
    ++count;
  }
  if (ElementCount(shape) != count) {
    return Error(Code::kInvalidArgument, "line ", in.line(), ": ", count,
                 " elements for a constant of shape ", ToString(shape));
  }
  return Tensor::Own(dtype, shape, std::move(bytes));
}

Result<std::string> ParseHash(Scanner& in) {
  // The hash is read digit by digit: it may start with a digit, which no word does.
  std::string hash;
  constexpr std::string_view kDigits = "0123456789abcdef";
  while (hash.size() < 32) {
    size_t digit = 0;
    while (digit < kDigits.size() && !in.Accept(kDigits.substr(digit, 1))) ++digit;
    if (digit == kDigits.size()) return in.Fail("32 hex digits");
    hash.push_back(kDigits[digit]);
  }
  return hash;
}

}  // namespace

std::string ConstantText(const Tensor& tensor) {
  if (tensor.count() > kMaxPrintedElements) return "@" + ToHex(HashBytes(tensor.bytes()));
  std::string out = "[";
  for (int64_t i = 0; i < tensor.count(); ++i) {
    if (i > 0) out += ", ";
    out +=
        IsFloat(tensor.dtype()) ? FormatDouble(tensor.FloatAt(i)) : std::to_string(tensor.IntAt(i));
  }
  return out + "]";
}

Result<Tensor> ConstantReader::Zeros(Scanner& in, DType dtype, const Dims& shape, int64_t bytes) {
  if (bytes > zero_bytes_left_) {
    return in.Fail(
        StrCat("constants without data of at most ", kMaxZeroBytes, " bytes before this"));
  }
  zero_bytes_left_ -= bytes;
  return Tensor::Own(dtype, shape, std::vector<std::byte>(static_cast<size_t>(bytes)));
}

Result<Tensor> ConstantReader::Read(Scanner& in, DType dtype, const Dims& shape) {
  const std::optional<int64_t> count = ElementCount(shape);
  int64_t bytes = 0;
  if (!count || !CheckedMul<int64_t>(*count, DTypeBytes(dtype), &bytes)) {
    return in.Fail("a smaller constant");
  }
  if (in.Accept("[")) return ParseElements(in, dtype, shape);
  AICF_RETURN_IF_ERROR(in.Expect("@"));
  AICF_ASSIGN_OR_RETURN(const std::string hash, ParseHash(in));
  const Tensor found = resolve_ ? resolve_(dtype, shape, hash) : Tensor();
  if (!found.has_data()) return Zeros(in, dtype, shape, bytes);
  if (found.dtype() != dtype || found.bytes().size() != static_cast<uint64_t>(bytes)) {
    return Error(Code::kInvalidArgument, "line ", in.line(), ": constant @", hash, " has ",
                 found.bytes().size(), " bytes of ", DTypeName(found.dtype()), ", expected ", bytes,
                 " of ", DTypeName(dtype));
  }
  return found.Reshaped(shape);
}

}  // namespace aicf::ir
