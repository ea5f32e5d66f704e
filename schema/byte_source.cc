#include "schema/byte_source.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/open_file.h"
#include "base/scanner.h"

namespace aicf::schema {
namespace {

Status IoError(const std::string& path, std::string_view operation, int error) {
  return Error(Code::kIo, operation, " ", Quote(path), ": ", std::strerror(error));
}

class FileSource final : public ByteSource {
 public:
  FileSource(std::string path, OpenedFile file) : path_(std::move(path)), file_(std::move(file)) {}

  uint64_t size() const override { return file_.size; }

  Status Read(uint64_t offset, std::span<std::byte> out) override {
    while (!out.empty()) {
      // Linux transfers at most 2^31 - 4096 bytes a call.
      const size_t chunk = std::min<size_t>(out.size(), size_t{1} << 30);
      const ssize_t n = ::pread(file_.fd.get(), out.data(), chunk, static_cast<off_t>(offset));
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
  OpenedFile file_;
};

}  // namespace

Status MemorySource::Read(uint64_t offset, std::span<std::byte> out) {
  if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
  return OkStatus();
}

Result<std::unique_ptr<ByteSource>> OpenFile(const std::string& path) {
  AICF_ASSIGN_OR_RETURN(OpenedFile file, OpenRegularFile(path));
  return std::unique_ptr<ByteSource>(std::make_unique<FileSource>(path, std::move(file)));
}

}  // namespace aicf::schema
