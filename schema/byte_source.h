/// Where an artifact's bytes come from while it is read: a file or memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/status.h"

namespace aicf::schema {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual uint64_t size() const = 0;
  /// Fills `out` from `offset`. REQUIRES: the range is inside size().
  /// Errors: kIo, also when a file has become shorter since it was opened.
  virtual Status Read(uint64_t offset, std::span<std::byte> out) = 0;
};

class MemorySource final : public ByteSource {
 public:
  /// `bytes` must outlive the source.
  explicit MemorySource(std::span<const std::byte> bytes) : bytes_(bytes) {}
  uint64_t size() const override { return bytes_.size(); }
  Status Read(uint64_t offset, std::span<std::byte> out) override;

 private:
  std::span<const std::byte> bytes_;
};

/// Opens once and keeps the descriptor: what is checked is what is read. Only regular files; a FIFO
/// or a device is refused without blocking. Errors: kIo.
Result<std::unique_ptr<ByteSource>> OpenFile(const std::string& path);

}  // namespace aicf::schema
