/// Page-aligned, zeroed host memory that reports failure as a Status instead of aborting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/status.h"

namespace aicf {

/// Owns one private mapping. Zeroed, so that nothing of an earlier tenant can be read, and page
/// aligned, which covers every alignment a plan may ask for. Movable, not copyable.
class HostMemory {
 public:
  HostMemory() = default;
  HostMemory(HostMemory&& other) noexcept { *this = std::move(other); }
  HostMemory& operator=(HostMemory&& other) noexcept;
  ~HostMemory();

  /// Errors: kResource naming `what`, the bytes needed and the machine's memory. Zero bytes are
  /// legal and give a null address.
  static Result<HostMemory> Allocate(std::string_view what, uint64_t bytes);

  std::byte* data() const { return data_; }
  uint64_t size() const { return size_; }
  /// Whether any of these bytes belong to it.
  bool Overlaps(const std::byte* data, uint64_t bytes) const {
    return bytes > 0 && size_ > 0 && data < data_ + size_ && data_ < data + bytes;
  }

 private:
  std::byte* data_ = nullptr;
  uint64_t size_ = 0;
};

}  // namespace aicf
