#include "tools/common/files.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <new>

#include "base/open_file.h"

namespace aicf::tools {
namespace {

Status IoError(const std::string& path, std::string_view what) {
  return Error(Code::kIo, path, ": ", what);
}

Status ReadAll(int fd, const std::string& path, std::vector<std::byte>& bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = read(fd, bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return IoError(path, std::strerror(errno));
    if (got == 0) return IoError(path, "the file became shorter while it was read");
    done += static_cast<size_t>(got);
  }
  return OkStatus();
}

}  // namespace

Result<std::vector<std::byte>> ReadFile(const std::string& path) {
  AICF_ASSIGN_OR_RETURN(const OpenedFile file, OpenRegularFile(path));
  std::vector<std::byte> bytes;
  try {
    bytes.resize(file.size);
  } catch (const std::exception&) {  // bad_alloc or length_error
    return Error(Code::kResource, path, ": ", file.size, " bytes do not fit into memory");
  }
  AICF_RETURN_IF_ERROR(ReadAll(file.fd.get(), path, bytes));
  return bytes;
}

bool SameFile(const std::string& a, const std::string& b) {
  struct stat sa = {}, sb = {};
  return stat(a.c_str(), &sa) == 0 && stat(b.c_str(), &sb) == 0 && sa.st_dev == sb.st_dev &&
         sa.st_ino == sb.st_ino;
}

Status WriteFile(const std::string& path, std::span<const std::byte> bytes, Existing existing) {
  AICF_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path, existing));
  AICF_RETURN_IF_ERROR(file.Write(bytes));
  return file.Commit();
}

Status WriteFile(const std::string& path, std::string_view text, Existing existing) {
  return WriteFile(path, std::as_bytes(std::span(text)), existing);
}

}  // namespace aicf::tools
