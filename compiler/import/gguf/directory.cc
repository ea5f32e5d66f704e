#include "compiler/import/gguf/directory.h"

#include <array>
#include <limits>

#include "base/checked.h"
#include "base/utf8.h"

namespace aicf::gguf {
namespace {

constexpr uint32_t kMaxFileRank = 4;

std::string_view OtherTypeName(uint32_t type) {
  switch (type) {
#define AICF_GGUF_OTHER(number, name) \
  case number:                        \
    return name;
#include "compiler/import/gguf/other_types.def"
#undef AICF_GGUF_OTHER
    default:
      return "unknown";
  }
}

Result<Dims> ReadShape(Cursor& in) {
  AICF_ASSIGN_OR_RETURN(const uint32_t rank, in.Number<uint32_t>("the rank"));
  if (rank > kMaxFileRank) {
    return Error(Code::kBadModel, "the rank is ", rank, ", expected at most ", kMaxFileRank);
  }
  Dims shape = Dims::Filled(static_cast<int>(rank), 0);
  for (int i = static_cast<int>(rank) - 1; i >= 0; --i) {
    AICF_ASSIGN_OR_RETURN(const uint64_t extent, in.Number<uint64_t>("an extent"));
    if (extent == 0 || extent > uint64_t{std::numeric_limits<int64_t>::max()}) {
      return Error(Code::kBadModel, "an extent is ", extent, ", expected 1 to 2^63 - 1");
    }
    shape[i] = static_cast<int64_t>(extent);
  }
  return shape;
}

Result<BlockFormat> ReadFormat(Cursor& in) {
  AICF_ASSIGN_OR_RETURN(const uint32_t type, in.Number<uint32_t>("the type"));
  if (const auto format = BlockFormatOfGgml(type)) return *format;
  return Error(Code::kUnsupported, "the type is ggml's ", type, " (", OtherTypeName(type),
               "), which is not supported");
}

Result<uint64_t> BytesOf(BlockFormat format, const Dims& shape) {
  const BlockFormatInfo& info = InfoOf(format);
  const std::optional<int64_t> count = ElementCount(shape);
  if (!count) {
    return Error(Code::kBadModel, "the shape ", ToString(shape), " has more than 2^63 elements");
  }
  const int64_t columns = shape.empty() ? 1 : shape.back();
  if (columns % info.elements != 0) {
    return Error(Code::kBadModel, "rows of ", columns, " elements are no whole blocks of ",
                 info.name, ", which have ", info.elements);
  }
  const auto bytes =
      BlockBytes(format, static_cast<uint64_t>(*count / columns), static_cast<uint64_t>(columns));
  if (bytes) return *bytes;
  return Error(Code::kBadModel, "the shape ", ToString(shape), " has more than 2^64 bytes");
}

Status ReadRest(Cursor& in, DirectoryEntry& entry) {
  AICF_ASSIGN_OR_RETURN(entry.tensor.shape, ReadShape(in));
  AICF_ASSIGN_OR_RETURN(entry.tensor.format, ReadFormat(in));
  AICF_ASSIGN_OR_RETURN(entry.bytes, BytesOf(entry.tensor.format, entry.tensor.shape));
  AICF_ASSIGN_OR_RETURN(entry.offset, in.Number<uint64_t>("the offset"));
  return OkStatus();
}

}  // namespace

Result<std::string_view> ReadName(Cursor& in, std::string_view what, uint64_t limit) {
  const uint64_t at = in.position();
  AICF_ASSIGN_OR_RETURN(const std::string_view name, in.String(what));
  if (name.empty() || name.size() > limit) {
    return Error(Code::kBadModel, what, " at offset ", at, " has ", name.size(),
                 " bytes, expected 1 to ", limit);
  }
  if (!IsCleanText(name)) {
    return Error(Code::kBadModel, what, " at offset ", at, " is no UTF-8 text");
  }
  return name;
}

Result<DirectoryEntry> ReadDirectoryEntry(Cursor& in) {
  DirectoryEntry entry;
  AICF_ASSIGN_OR_RETURN(entry.tensor.name, ReadName(in, "a tensor's name", kMaxTensorNameBytes));
  const Status status = ReadRest(in, entry);
  if (!status.ok()) return status.WithContext(StrCat("tensor ", Quote(entry.tensor.name)));
  return entry;
}

}  // namespace aicf::gguf
