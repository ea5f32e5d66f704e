/// GGUF files, written byte by byte in tests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "compiler/import/gguf/gguf.h"

namespace aicf::testing {

template <class T>
std::string Raw(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}
inline std::string GgufString(std::string_view text) {
  return Raw<uint64_t>(text.size()) + std::string(text);
}
/// A metadata value of type `type` with these bytes.
inline std::string GgufValue(std::string_view key, uint32_t type, std::string_view payload) {
  return GgufString(key) + Raw(type) + std::string(payload);
}
inline std::string GgufArray(uint32_t element, uint64_t count, std::string_view payload) {
  return Raw(element) + Raw(count) + std::string(payload);
}
inline std::string GgufEntry(std::string_view name, const std::vector<uint64_t>& extents,
                             uint32_t type, uint64_t offset) {
  std::string entry = GgufString(name) + Raw<uint32_t>(extents.size());
  for (uint64_t extent : extents) entry += Raw(extent);
  return entry + Raw(type) + Raw(offset);
}

/// The parts of a file; what the counts say follows from the parts unless a test sets them.
struct GgufParts {
  std::string magic = "GGUF";
  uint32_t version = 3;
  std::vector<std::string> values, entries;
  std::string data;
  uint64_t alignment = 32;
  uint64_t extra_tensors = 0, extra_values = 0;

  std::string Bytes() const {
    std::string out = magic + Raw(version) + Raw<uint64_t>(entries.size() + extra_tensors) +
                      Raw<uint64_t>(values.size() + extra_values);
    for (const std::string& value : values) out += value;
    for (const std::string& entry : entries) out += entry;
    if (data.empty()) return out;
    out.resize((out.size() + alignment - 1) / alignment * alignment);
    return out + data;
  }
};

inline Result<gguf::GgufFile> ParseGguf(const std::string& bytes) {
  const auto owner = std::make_shared<const std::string>(bytes);
  return gguf::GgufFile::Parse(std::as_bytes(std::span(*owner)), owner);
}

}  // namespace aicf::testing
