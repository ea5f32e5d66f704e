/// The model file: opened once, checked, identified.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/status.h"

namespace aicf {

/// An open file descriptor. Closes it.
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd = -1) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor();
  int get() const { return fd_; }

 private:
  int fd_;
};

struct ModelFile {
  FileDescriptor fd;
  uint64_t size = 0;
  dev_t device = 0;  ///< with inode: identity, so that a model cannot name itself as its data
  ino_t inode = 0;
};

/// Opens a regular file for reading. Errors: kIo when it is absent, unreadable, a directory, a pipe
/// or a device.
Result<ModelFile> OpenRegularFile(const std::string& path);

/// The same for a protobuf. Errors: also kBadModel above 2 GiB - 1, the largest protobuf there is.
Result<ModelFile> OpenModelFile(const std::string& path);

}  // namespace aicf
