#include "compiler/import/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>

#include "base/interrupted.h"
#include "base/scanner.h"

namespace aicf {
namespace {

constexpr uint64_t kMaxModelBytes = std::numeric_limits<int32_t>::max();

Status SystemError(const std::string& path, const char* operation) {
  return Error(Code::kIo, "cannot ", operation, " ", Quote(path), ": ", std::strerror(errno));
}

std::string_view KindOfFile(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

}  // namespace

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) close(fd_);
}

Result<ModelFile> OpenRegularFile(const std::string& path) {
  ModelFile file;
  // O_NONBLOCK: opening a pipe that nobody writes to must not wait.
  file.fd = FileDescriptor(
      Uninterrupted([&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); }));
  if (file.fd.get() < 0) return SystemError(path, "open");
  struct stat info = {};
  if (fstat(file.fd.get(), &info) != 0) return SystemError(path, "examine");
  if (!S_ISREG(info.st_mode)) {
    return Error(Code::kIo, Quote(path), " is ", KindOfFile(info.st_mode), ", expected a file");
  }
  file.size = static_cast<uint64_t>(info.st_size);
  file.device = info.st_dev;
  file.inode = info.st_ino;
  return file;
}

Result<ModelFile> OpenModelFile(const std::string& path) {
  AICF_ASSIGN_OR_RETURN(ModelFile file, OpenRegularFile(path));
  if (file.size > kMaxModelBytes) {
    return Error(Code::kBadModel, Quote(path), " has ", file.size,
                 " bytes; a protobuf has at most ", kMaxModelBytes,
                 " (larger models keep their weights in external files)");
  }
  return file;
}

}  // namespace aicf
