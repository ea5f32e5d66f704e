#include "compiler/import/gguf/gguf.h"

#include <algorithm>
#include <new>
#include <numeric>

#include "base/checked.h"
#include "compiler/import/file_bytes.h"
#include "compiler/import/gguf/directory.h"

namespace aicf::gguf {
namespace {

// Bytes of the smallest metadata value: length of a key, one character, type, one byte.
constexpr uint64_t kMinMetadataBytes = 8 + 1 + 4 + 1;
constexpr std::string_view kAlignmentKey = "general.alignment";

Result<uint32_t> ReadVersion(Cursor& in) {
  AICF_ASSIGN_OR_RETURN(const auto magic, in.Take(4, "the magic number"));
  if (std::memcmp(magic.data(), "GGUF", 4) != 0) {
    return Error(Code::kBadModel, "the file does not begin with \"GGUF\"");
  }
  AICF_ASSIGN_OR_RETURN(const uint32_t version, in.Number<uint32_t>("the version"));
  if (version == 2 || version == 3) return version;
  const uint32_t swapped = __builtin_bswap32(version);
  if (swapped >= 1 && swapped <= 3) {
    return Error(Code::kUnsupported, "the file is big-endian, expected little-endian");
  }
  return Error(Code::kUnsupported, "GGUF version ", version, ", expected 2 or 3");
}

// Refuses a count of items for which the remaining bytes do not suffice, or that is above the
// limit.
Status CheckCount(const Cursor& in, std::string_view what, uint64_t count, uint64_t min_bytes,
                  uint64_t limit) {
  if (count > in.left() / min_bytes) {
    return Error(Code::kBadModel, "the header names ", count, " ", what, ", for which the ",
                 in.left(), " bytes after it do not suffice");
  }
  if (count > limit) {
    return Error(Code::kResource, "the header names ", count, " ", what, ", the limit is ", limit);
  }
  return OkStatus();
}

// Positions of items in the order of their names; an error for two items of one name. Sorting finds
// duplicates in any file without quadratic time.
template <class Item, class Name>
Result<std::vector<uint32_t>> SortByName(const std::vector<Item>& items, std::string_view what,
                                         Name name) {
  std::vector<uint32_t> order(items.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](uint32_t i) { return items[i].*name; });
  for (size_t i = 1; i < order.size(); ++i) {
    if (items[order[i]].*name != items[order[i - 1]].*name) continue;
    return Error(Code::kBadModel, "there are two ", what, " ", Quote(items[order[i]].*name));
  }
  return order;
}

template <class Item, class Name>
const Item* FindByName(const std::vector<Item>& items, const std::vector<uint32_t>& order,
                       std::string_view wanted, Name name) {
  const auto at =
      std::ranges::lower_bound(order, wanted, {}, [&](uint32_t i) { return items[i].*name; });
  return at == order.end() || items[*at].*name != wanted ? nullptr : &items[*at];
}

Result<std::vector<DirectoryEntry>> ReadDirectory(Cursor& in, uint64_t count) {
  std::vector<DirectoryEntry> entries;
  entries.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    AICF_ASSIGN_OR_RETURN(const DirectoryEntry entry, ReadDirectoryEntry(in));
    entries.push_back(entry);
  }
  return entries;
}

Status BadPlace(const DirectoryEntry& entry, std::string_view why) {
  return Error(Code::kBadModel, "tensor ", Quote(entry.tensor.name), " of ", entry.bytes,
               " bytes at data offset ", entry.offset, " ", why);
}

// Assigns the tensors their bytes. Every tensor has to begin at the first aligned offset after the
// one before it, and less than `alignment` bytes of padding may follow the last one.
Status PlaceTensors(std::span<const std::byte> data, uint64_t alignment,
                    std::vector<DirectoryEntry>& entries) {
  std::vector<uint32_t> order(entries.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](uint32_t i) { return entries[i].offset; });
  uint64_t end = 0;
  for (uint32_t i : order) {
    DirectoryEntry& entry = entries[i];
    uint64_t begin = 0;
    if (entry.offset % alignment != 0) {
      return BadPlace(entry, StrCat("is not aligned to ", alignment));
    }
    if (!CheckedAlignUp(end, alignment, &begin) || entry.offset != begin) {
      return BadPlace(entry, StrCat(entry.offset < begin ? "overlaps" : "leaves a gap after",
                                    " the one before, expected offset ", begin));
    }
    if (!InRange(begin, entry.bytes, data.size())) {
      return BadPlace(entry, StrCat("ends outside the ", data.size(), " bytes of data"));
    }
    entry.tensor.bytes = data.subspan(begin, entry.bytes);
    end = begin + entry.bytes;
  }
  if (data.size() - end < alignment) return OkStatus();
  return Error(Code::kBadModel, data.size() - end,
               " bytes follow the last tensor, expected less than ", alignment);
}

}  // namespace

Result<GgufFile> GgufFile::Parse(std::span<const std::byte> bytes,
                                 std::shared_ptr<const void> owner) {
  Cursor in(bytes);
  GgufFile file;
  file.owner_ = std::move(owner);
  AICF_ASSIGN_OR_RETURN(file.version_, ReadVersion(in));
  AICF_ASSIGN_OR_RETURN(const uint64_t tensors, in.Number<uint64_t>("the number of tensors"));
  AICF_ASSIGN_OR_RETURN(const uint64_t values, in.Number<uint64_t>("the number of values"));
  AICF_RETURN_IF_ERROR(CheckCount(in, "tensors", tensors, kMinEntryBytes, kMaxTensors));
  AICF_RETURN_IF_ERROR(CheckCount(in, "metadata values", values, kMinMetadataBytes, kMaxMetadata));
  AICF_RETURN_IF_ERROR(file.ReadMetadata(in, values));
  AICF_RETURN_IF_ERROR(file.ReadAlignment());
  AICF_RETURN_IF_ERROR(file.ReadTensors(in, tensors, bytes));
  return file;
}

Status GgufFile::ReadMetadata(Cursor& in, uint64_t count) {
  metadata_.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    AICF_ASSIGN_OR_RETURN(const std::string_view key, ReadName(in, "a metadata key", kMaxKeyBytes));
    const auto read = [&]() -> Result<Value> {
      AICF_ASSIGN_OR_RETURN(const uint32_t type, in.Number<uint32_t>("the type"));
      return Value::Read(type, in);
    };
    auto value = read();
    if (!value.ok()) return value.status().WithContext(StrCat("metadata ", Quote(key)));
    metadata_.push_back({key, *value});
  }
  AICF_ASSIGN_OR_RETURN(metadata_by_name_,
                        SortByName(metadata_, "metadata values", &Metadata::key));
  return OkStatus();
}

Status GgufFile::ReadAlignment() {
  const Value* value = FindValue(kAlignmentKey);
  if (value == nullptr) return OkStatus();
  if (value->type() != ValueType::kU32) {
    return Error(Code::kBadModel, "metadata ", Quote(kAlignmentKey),
                 " is no 32-bit unsigned integer");
  }
  AICF_ASSIGN_OR_RETURN(alignment_, Get<uint64_t>(kAlignmentKey));
  if (IsPowerOfTwo(alignment_) && alignment_ <= kMaxAlignment) return OkStatus();
  return Error(Code::kBadModel, "metadata ", Quote(kAlignmentKey), " is ", alignment_,
               ", expected a power of two up to ", kMaxAlignment);
}

Status GgufFile::ReadTensors(Cursor& in, uint64_t count, std::span<const std::byte> bytes) {
  AICF_ASSIGN_OR_RETURN(std::vector<DirectoryEntry> entries, ReadDirectory(in, count));
  uint64_t start = 0;
  if (!CheckedAlignUp(in.position(), alignment_, &start)) {
    return Error(Code::kBadModel, "the header is larger than any file");
  }
  // Without tensors there is no data, and the file may end before the aligned start of the data.
  const auto data = bytes.subspan(std::min<uint64_t>(start, bytes.size()));
  AICF_RETURN_IF_ERROR(PlaceTensors(data, alignment_, entries));
  tensors_.reserve(entries.size());
  for (const DirectoryEntry& entry : entries) tensors_.push_back(entry.tensor);
  AICF_ASSIGN_OR_RETURN(tensors_by_name_, SortByName(tensors_, "tensors", &Tensor::name));
  return OkStatus();
}

const Value* GgufFile::FindValue(std::string_view key) const {
  const Metadata* found = FindByName(metadata_, metadata_by_name_, key, &Metadata::key);
  return found == nullptr ? nullptr : &found->value;
}

const Tensor* GgufFile::FindTensor(std::string_view name) const {
  return FindByName(tensors_, tensors_by_name_, name, &Tensor::name);
}

Result<GgufFile> ReadGguf(const std::string& path) {
  AICF_ASSIGN_OR_RETURN(const ModelFile file, OpenRegularFile(path));
  auto content = FileBytes::Read(file);
  if (!content.ok()) return content.status().WithContext(Quote(path));
  const std::span<const std::byte> bytes = (*content)->bytes();
  auto parsed = GgufFile::Parse(bytes, *std::move(content));
  if (!parsed.ok()) return parsed.status().WithContext(Quote(path));
  return parsed;
}

Result<ir::Tensor> DecodeTensor(const Tensor& tensor) {
  // The check of the directory bounds the elements: a format has at most 256 of them in 84 bytes,
  // so these values take no more than 13 times the size of the file.
  const auto count = static_cast<size_t>(*ElementCount(tensor.shape));
  std::shared_ptr<float[]> values(new (std::nothrow) float[count]);
  if (values == nullptr) {
    return Error(Code::kResource, "no memory for the ", count, " values of ", Quote(tensor.name));
  }
  const std::span<float> out(values.get(), count);
  DecodeBlocks(tensor.format, tensor.bytes, out);
  return ir::Tensor(DType::kF32, tensor.shape, std::as_bytes(out), std::move(values));
}

}  // namespace aicf::gguf
