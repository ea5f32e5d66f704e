#include "compiler/import/safetensors/safetensors.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/checked.h"
#include "base/scanner.h"
#include "compiler/import/file_bytes.h"
#include "compiler/import/safetensors/header.h"

namespace aicf::safetensors {
namespace {

constexpr uint64_t kLengthBytes = 8;

Result<std::string_view> HeaderText(std::span<const std::byte> bytes) {
  if (bytes.size() < kLengthBytes) {
    return Error(Code::kBadModel, "the file has ", bytes.size(), " bytes, expected at least ",
                 kLengthBytes);
  }
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  if (length > kMaxHeaderBytes) {
    return Error(Code::kBadModel, "the header has ", length, " bytes, expected at most ",
                 kMaxHeaderBytes);
  }
  if (!InRange(kLengthBytes, length, bytes.size())) {
    return Error(Code::kBadModel, "the header has ", length, " bytes, but the file ends after ",
                 bytes.size() - kLengthBytes);
  }
  return std::string_view(reinterpret_cast<const char*>(bytes.data()) + kLengthBytes, length);
}

Status BadEntry(const HeaderEntry& entry, std::string_view why) {
  return Error(Code::kBadModel, "tensor ", Quote(entry.name), " at ", entry.begin, " to ",
               entry.end, " ", why);
}

Status CheckSize(const HeaderEntry& entry) {
  const std::optional<int64_t> count = ElementCount(entry.shape);
  int64_t bytes = 0;
  if (!count || !CheckedMul(*count, DTypeBytes(entry.dtype), &bytes)) {
    return BadEntry(entry,
                    StrCat("has the shape ", ToString(entry.shape), " of 2^63 or more bytes"));
  }
  if (entry.begin <= entry.end && entry.end - entry.begin == static_cast<uint64_t>(bytes)) {
    return OkStatus();
  }
  return BadEntry(entry, StrCat("is ", DTypeName(entry.dtype), " ", ToString(entry.shape),
                                ", expected ", bytes, " bytes"));
}

// The entries in the order of their offsets touch each other, from the first byte to the last.
Status CheckCover(const std::vector<HeaderEntry>& entries, uint64_t size) {
  std::vector<const HeaderEntry*> order;
  for (const HeaderEntry& entry : entries) order.push_back(&entry);
  std::ranges::sort(order, {}, [](const HeaderEntry* e) { return std::pair(e->begin, e->end); });
  uint64_t end = 0;
  for (const HeaderEntry* entry : order) {
    AICF_RETURN_IF_ERROR(CheckSize(*entry));
    if (entry->begin != end) {
      return BadEntry(*entry, StrCat(entry->begin < end ? "overlaps" : "leaves a hole after",
                                     " the one before, expected ", end));
    }
    end = entry->end;
    if (end > size) return BadEntry(*entry, StrCat("ends outside the ", size, " bytes of data"));
  }
  if (end == size) return OkStatus();
  return Error(Code::kBadModel, size - end, " bytes follow the last tensor");
}

Status CheckBools(const HeaderEntry& entry, std::span<const std::byte> bytes) {
  if (entry.dtype != DType::kBool) return OkStatus();
  const bool valid = std::ranges::all_of(bytes, [](std::byte b) { return b <= std::byte{1}; });
  return valid ? OkStatus() : BadEntry(entry, "has a bool that is neither 0 nor 1");
}

}  // namespace

const ir::Tensor* SafetensorsFile::Find(std::string_view name) const {
  const auto at = std::ranges::lower_bound(tensors, name, {}, &NamedTensor::name);
  return at == tensors.end() || at->name != name ? nullptr : &at->data;
}

Result<SafetensorsFile> ParseSafetensors(std::span<const std::byte> bytes,
                                         std::shared_ptr<const void> owner) {
  AICF_ASSIGN_OR_RETURN(const std::string_view text, HeaderText(bytes));
  AICF_ASSIGN_OR_RETURN(Header header, ParseHeader(text));
  const auto data = bytes.subspan(kLengthBytes + text.size());
  AICF_RETURN_IF_ERROR(CheckCover(header.entries, data.size()));
  SafetensorsFile file;
  file.metadata = std::move(header.metadata);
  file.tensors.reserve(header.entries.size());
  for (HeaderEntry& entry : header.entries) {
    const auto place = data.subspan(entry.begin, entry.end - entry.begin);
    AICF_RETURN_IF_ERROR(CheckBools(entry, place));
    file.tensors.push_back(
        {std::move(entry.name), ir::Tensor(entry.dtype, entry.shape, place, owner)});
  }
  return file;
}

Result<SafetensorsFile> ReadSafetensors(const ModelFile& file, std::string_view name) {
  auto content = FileBytes::Read(file);
  if (!content.ok()) return content.status().WithContext(Quote(name));
  const std::span<const std::byte> bytes = (*content)->bytes();
  auto parsed = ParseSafetensors(bytes, *std::move(content));
  if (!parsed.ok()) return parsed.status().WithContext(Quote(name));
  return parsed;
}

Result<SafetensorsFile> ReadSafetensors(const std::string& path) {
  AICF_ASSIGN_OR_RETURN(const ModelFile file, OpenRegularFile(path));
  return ReadSafetensors(file, path);
}

}  // namespace aicf::safetensors
