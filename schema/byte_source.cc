#include "schema/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/scanner.h"

namespace aicf::schema {
namespace {

Status IoError(const std::string& path, std::string_view operation, int error) {
  return Error(Code::kIo, operation, " ", Quote(path), ": ", std::strerror(error));
}

class FileSource final : public ByteSource {
 public:
  FileSource(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  ~FileSource() override { ::close(fd_); }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  Status Init() {
    struct stat info {};
    if (::fstat(fd_, &info) != 0) return IoError(path_, "reading", errno);
    if (!S_ISREG(info.st_mode)) return Error(Code::kIo, Quote(path_), " is not a regular file");
    size_ = static_cast<uint64_t>(info.st_size);
    return OkStatus();
  }

  uint64_t size() const override { return size_; }

  Status Read(uint64_t offset, std::span<std::byte> out) override {
    while (!out.empty()) {
      // Linux transfers at most 2^31 - 4096 bytes a call.
      const size_t chunk = std::min<size_t>(out.size(), size_t{1} << 30);
      const ssize_t n = ::pread(fd_, out.data(), chunk, static_cast<off_t>(offset));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return IoError(path_, "reading", errno);
      if (n == 0) return Error(Code::kIo, Quote(path_), " became shorter while it was read");
      offset += static_cast<uint64_t>(n);
      out = out.subspan(static_cast<size_t>(n));
    }
    return OkStatus();
  }

 private:
  std::string path_;
  int fd_;
  uint64_t size_ = 0;
};

}  // namespace

Status MemorySource::Read(uint64_t offset, std::span<std::byte> out) {
  if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
  return OkStatus();
}

Result<std::unique_ptr<ByteSource>> OpenFile(const std::string& path) {
  // O_NONBLOCK: opening a FIFO must not wait for a writer. It has no effect on a regular file.
  int fd = -1;
  do {
    fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return IoError(path, "opening", errno);
  auto source = std::make_unique<FileSource>(path, fd);
  AICF_RETURN_IF_ERROR(source->Init());
  return std::unique_ptr<ByteSource>(std::move(source));
}

}  // namespace aicf::schema
