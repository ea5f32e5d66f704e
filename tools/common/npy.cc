#include "tools/common/npy.h"

#include <charconv>
#include <cstring>
#include <optional>

#include "base/checked.h"
#include "tools/common/files.h"
#include "tools/common/text.h"

namespace aicf::tools {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
/// Longest header that is read. NumPy itself stops at 10,000 characters unless told otherwise.
constexpr uint64_t kMaxHeaderBytes = 65536;

struct TypeCode {
  std::string_view code;
  DType dtype;
};
constexpr TypeCode kTypeCodes[] = {
    {"<f4", DType::kF32}, {"<f8", DType::kF64}, {"<f2", DType::kF16},  {"|i1", DType::kI8},
    {"<i2", DType::kI16}, {"<i4", DType::kI32}, {"<i8", DType::kI64},  {"|u1", DType::kU8},
    {"<u2", DType::kU16}, {"<u4", DType::kU32}, {"<u8", DType::kU64},  {"|b1", DType::kBool},
    {"<i1", DType::kI8},  {"<u1", DType::kU8},  {"<b1", DType::kBool},
};

std::string_view TypeCodeOf(DType dtype) {
  for (const TypeCode& t : kTypeCodes) {
    if (t.dtype == NpyDType(dtype)) return t.code;
  }
  return "";
}

struct Header {
  DType dtype = DType::kF32;
  Dims shape;
  bool fortran_order = false;
};

/// Reads the Python dictionary literal that NumPy writes; accepts its keys in any order, once each.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : rest_(text) {}

  Result<Header> Parse() {
    if (!Take('{')) return Bad("'{'");
    bool has_type = false, has_order = false, has_shape = false;
    while (!Take('}')) {
      AICF_ASSIGN_OR_RETURN(const std::string_view key, TakeString());
      if (!Take(':')) return Bad("':'");
      bool* seen = key == "descr"           ? &has_type
                   : key == "fortran_order" ? &has_order
                   : key == "shape"         ? &has_shape
                                            : nullptr;
      if (seen == nullptr || *seen) return Bad("each of descr, fortran_order and shape once");
      *seen = true;
      AICF_RETURN_IF_ERROR(seen == &has_type    ? TakeType()
                           : seen == &has_order ? TakeOrder()
                                                : TakeShape());
      if (!Take(',') && Peek() != '}') return Bad("',' or '}'");
    }
    if (!has_type || !has_order || !has_shape) return Bad("descr, fortran_order and shape");
    if (rest_.find_first_not_of(" \n") != std::string_view::npos) return Bad("only blanks");
    return header_;
  }

 private:
  Status Bad(std::string_view expected) const {
    return Error(Code::kInvalidArgument, "npy header: expected ", expected, " at '",
                 Escape(rest_.substr(0, 24)), "'");
  }
  void SkipBlanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size())); }
  char Peek() {
    SkipBlanks();
    return rest_.empty() ? '\0' : rest_.front();
  }
  bool Take(char c) {
    if (Peek() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  Result<std::string_view> TakeString() {
    const char quote = Peek();
    if (quote != '\'' && quote != '"') return Bad("a quoted string");
    const size_t end = rest_.find(quote, 1);
    if (end == std::string_view::npos) return Bad("a closing quote");
    const std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }
  Status TakeType() {
    if (Peek() == '[') return Error(Code::kUnsupported, "npy: structured types are not supported");
    AICF_ASSIGN_OR_RETURN(const std::string_view code, TakeString());
    for (const TypeCode& t : kTypeCodes) {
      if (t.code != code) continue;
      header_.dtype = t.dtype;
      return OkStatus();
    }
    return Error(Code::kUnsupported, "npy: element type '", Escape(code),
                 "' is not supported (little-endian numbers and bool are)");
  }
  Status TakeOrder() {
    SkipBlanks();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      header_.fortran_order = value;
      return OkStatus();
    }
    return Bad("True or False");
  }
  Status TakeShape() {
    if (!Take('(')) return Bad("'('");
    while (!Take(')')) {
      SkipBlanks();
      int64_t extent = -1;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), extent);
      if (error != std::errc() || extent < 0) return Bad("a non-negative extent");
      if (header_.shape.rank() == kMaxRank) return Bad(StrCat("at most ", kMaxRank, " extents"));
      header_.shape.push_back(extent);
      rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
      if (!Take(',') && Peek() != ')') return Bad("',' or ')'");
    }
    return OkStatus();
  }

  std::string_view rest_;
  Header header_;
};

/// Copies column-major elements to row-major order.
std::vector<std::byte> FromFortran(std::span<const std::byte> data, const Header& header) {
  const size_t item = static_cast<size_t>(DTypeBytes(header.dtype));
  std::vector<std::byte> out(data.size());
  Dims index = Dims::Filled(header.shape.rank(), 0);
  for (size_t to = 0; to < out.size(); to += item) {
    size_t from = 0;
    for (int axis = index.rank() - 1; axis >= 0; --axis) {
      from = from * static_cast<size_t>(header.shape[axis]) + static_cast<size_t>(index[axis]);
    }
    std::memcpy(&out[to], &data[from * item], item);
    for (int axis = index.rank() - 1; axis >= 0 && ++index[axis] == header.shape[axis]; --axis) {
      index[axis] = 0;
    }
  }
  return out;
}

struct Layout {
  uint64_t header_at = 0;
  uint64_t header_bytes = 0;
};

Result<Layout> FindHeader(std::span<const std::byte> bytes) {
  const auto byte = [&](size_t i) { return static_cast<uint64_t>(bytes[i]); };
  if (bytes.size() < 10 || std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) {
    return Error(Code::kInvalidArgument, "not a .npy file (no NUMPY magic)");
  }
  if (byte(6) < 1 || byte(6) > 3) {
    return Error(Code::kUnsupported, "npy version ", byte(6), " (1 to 3 are supported)");
  }
  Layout layout;
  layout.header_at = byte(6) == 1 ? 10 : 12;
  layout.header_bytes = byte(8) | byte(9) << 8;
  if (bytes.size() < layout.header_at) return Error(Code::kInvalidArgument, "npy: truncated");
  if (byte(6) > 1) layout.header_bytes |= byte(10) << 16 | byte(11) << 24;
  if (layout.header_bytes > kMaxHeaderBytes ||
      !InRange(layout.header_at, layout.header_bytes, bytes.size())) {
    return Error(Code::kInvalidArgument, "npy: header of ", layout.header_bytes,
                 " bytes in a file of ", bytes.size());
  }
  return layout;
}

}  // namespace

DType NpyDType(DType dtype) {
  if (dtype == DType::kBF16) return DType::kU16;
  if (!IsStorageOnly(dtype)) return dtype;
  return KindOf(dtype) == DTypeKind::kSigned ? DType::kI8 : DType::kU8;
}

Result<NpyArray> ParseNpy(std::span<const std::byte> bytes) {
  AICF_ASSIGN_OR_RETURN(const Layout layout, FindHeader(bytes));
  const auto* text = reinterpret_cast<const char*>(bytes.data()) + layout.header_at;
  AICF_ASSIGN_OR_RETURN(const Header header,
                        HeaderParser(std::string_view(text, layout.header_bytes)).Parse());
  const std::span<const std::byte> data = bytes.subspan(layout.header_at + layout.header_bytes);
  const std::optional<int64_t> count = ElementCount(header.shape);
  int64_t needed = 0;
  if (!count || !CheckedMul(*count, DTypeBytes(header.dtype), &needed) ||
      static_cast<uint64_t>(needed) != data.size()) {
    return Error(Code::kInvalidArgument, "npy: shape ", ToString(header.shape), " of ",
                 DTypeName(header.dtype), " does not match ", data.size(), " bytes of data");
  }
  NpyArray array{header.dtype, header.shape, {}};
  if (header.fortran_order && header.shape.rank() > 1) {
    array.data = FromFortran(data, header);
  } else {
    array.data.assign(data.begin(), data.end());
  }
  return array;
}

Result<NpyArray> ReadNpy(const std::string& path) {
  AICF_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, ReadFile(path));
  Result<NpyArray> array = ParseNpy(bytes);
  if (!array.ok()) return array.status().WithContext(path);
  return array;
}

std::vector<std::byte> SerializeNpy(DType dtype, const Dims& shape,
                                    std::span<const std::byte> data) {
  std::string header =
      StrCat("{'descr': '", TypeCodeOf(dtype), "', 'fortran_order': False, 'shape': (");
  for (int i = 0; i < shape.rank(); ++i) header += StrCat(i > 0 ? ", " : "", shape[i]);
  header += shape.rank() == 1 ? ",), }" : "), }";
  // Data starts at a multiple of 64, as NumPy writes it, so that the file can be mapped.
  const size_t prefix = kMagic.size() + 4;
  while ((prefix + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string start(kMagic);
  start += {'\x01', '\x00', static_cast<char>(header.size() & 0xff),
            static_cast<char>(header.size() >> 8)};
  start += header;
  std::vector<std::byte> out(start.size() + data.size());
  std::memcpy(out.data(), start.data(), start.size());
  if (!data.empty()) std::memcpy(out.data() + start.size(), data.data(), data.size());
  return out;
}

}  // namespace aicf::tools
