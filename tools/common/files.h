/// Reading whole files, and writing them so that a reader sees either the old file or the new one,
/// never a partial one.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace aicf::tools {

/// The bytes of a regular file. Opens without blocking, so a FIFO is refused instead of waited for.
/// Errors: kIo naming path and cause; kResource when it does not fit into memory.
Result<std::vector<std::byte>> ReadFile(const std::string& path);

/// True when both paths name one existing file, also through a symbolic or hard link.
bool SameFile(const std::string& a, const std::string& b);

enum class Existing : unsigned char {
  kRefuse,   ///< an existing output is an error and stays untouched
  kReplace,  ///< an existing output is replaced whole
};

/// An output that is being written: a temporary file in the output's directory until Commit renames
/// it.
///
/// Create checks everything that can be refused (directory absent or read-only, output exists), so
/// that a tool fails before hours of work instead of after them. The destructor and the signal
/// handlers of process.h remove the temporary file; the next Create in the same directory removes
/// what a killed process left. If the output is a symbolic link, its target is replaced.
class AtomicFile {
 public:
  /// Errors: kIo naming path and cause.
  static Result<AtomicFile> Create(const std::string& path, Existing existing);
  AtomicFile(AtomicFile&& other) noexcept { *this = std::move(other); }
  AtomicFile& operator=(AtomicFile&& other) noexcept;
  ~AtomicFile();

  /// Appends. Errors: kIo.
  Status Write(std::span<const std::byte> bytes);
  Status Write(std::string_view text) { return Write(std::as_bytes(std::span(text))); }
  /// fsync, rename, fsync of the directory. Errors: kIo; the old output is then still whole.
  Status Commit();

 private:
  AtomicFile() = default;
  Status OpenTemporary();
  Status Fail(std::string_view what) const;

  std::string path_;  ///< as the user wrote it, for messages
  std::string name_;  ///< final name inside the directory
  std::string temporary_;
  Existing existing_ = Existing::kRefuse;
  int directory_ = -1;
  int file_ = -1;
  int slot_ = -1;
};

/// Create, Write and Commit in one.
Status WriteFile(const std::string& path, std::span<const std::byte> bytes, Existing existing);
Status WriteFile(const std::string& path, std::string_view text, Existing existing);

}  // namespace aicf::tools
