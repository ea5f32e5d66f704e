/// The entries of a GGUF file's tensor directory.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "compiler/import/gguf/gguf.h"

namespace aicf::gguf {

/// A tensor whose bytes are not assigned yet. `bytes` is how many there are, and `offset` where the
/// file says that they begin, counted from the start of the data.
struct DirectoryEntry {
  Tensor tensor;
  uint64_t bytes = 0;
  uint64_t offset = 0;
};

/// Bytes of the smallest entry: length of a name, one character, rank, type, offset.
inline constexpr uint64_t kMinEntryBytes = 8 + 1 + 4 + 4 + 8;

/// Reads one entry. Errors: kBadModel for what breaks the format, kUnsupported for types without a
/// block format.
Result<DirectoryEntry> ReadDirectoryEntry(Cursor& in);

/// A name: not empty, at most `limit` bytes of UTF-8 without NUL.
Result<std::string_view> ReadName(Cursor& in, std::string_view what, uint64_t limit);

}  // namespace aicf::gguf
