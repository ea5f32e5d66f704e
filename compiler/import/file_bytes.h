/// A whole file in memory of its own, for formats whose tensors are views of the file.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/status.h"
#include "compiler/import/file.h"

namespace aicf {

/// Page-aligned bytes, unmapped with the last owner. They are a private copy and not a mapping of
/// the file: if the file is changed or truncated later, what was checked stays as it is, and the
/// process does not end.
class FileBytes {
 public:
  /// Errors: kIo when the file cannot be read or became shorter; kResource when memory does not
  /// suffice.
  static Result<std::shared_ptr<const FileBytes>> Read(const ModelFile& file);

  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;
  ~FileBytes();

  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  FileBytes() = default;
  Status Fill(int fd);

  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace aicf
