/// Reads a GGUF header front to back. Nothing is read that is not there, and nothing is copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "base/status.h"

namespace aicf::gguf {

class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> bytes) : bytes_(bytes) {}

  uint64_t position() const { return position_; }
  uint64_t left() const { return bytes_.size() - position_; }

  /// The next `count` bytes. Errors: kBadModel, saying that `what` does not fit into the file.
  Result<std::span<const std::byte>> Take(uint64_t count, std::string_view what) {
    if (count > left()) {
      return Error(Code::kBadModel, what, " at offset ", position_, " takes ", count,
                   " bytes, but the file ends after ", left());
    }
    const auto taken = bytes_.subspan(position_, count);
    position_ += count;
    return taken;
  }

  /// A little-endian number, as the hosts that aicf runs on have them.
  template <class T>
  Result<T> Number(std::string_view what) {
    AICF_ASSIGN_OR_RETURN(const auto raw, Take(sizeof(T), what));
    T value;
    std::memcpy(&value, raw.data(), sizeof value);
    return value;
  }

  /// A length of 64 bits and that many bytes, of any content.
  Result<std::string_view> String(std::string_view what) {
    AICF_ASSIGN_OR_RETURN(const uint64_t length, Number<uint64_t>(what));
    AICF_ASSIGN_OR_RETURN(const auto raw, Take(length, what));
    return std::string_view(reinterpret_cast<const char*>(raw.data()), raw.size());
  }

 private:
  std::span<const std::byte> bytes_;
  uint64_t position_ = 0;
};

}  // namespace aicf::gguf
