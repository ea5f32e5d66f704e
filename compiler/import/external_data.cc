#include "compiler/import/external_data.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>

#include "base/checked.h"
#include "base/interrupted.h"
#include "base/scanner.h"

namespace aicf {
namespace {

struct Request {
  std::string path;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
};

Status BadPath(const std::string& path, std::string_view why) {
  return Error(Code::kBadModel, "external data location ", Quote(path), " ", why);
}

Result<uint64_t> ParseCount(std::string_view key, const std::string& text) {
  uint64_t value = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (ec == std::errc() && end == text.data() + text.size()) return value;
  return Error(Code::kBadModel, "external data ", key, " is ", Quote(text),
               ", expected a byte count");
}

Status CheckPath(const std::string& path) {
  if (path.empty()) return BadPath(path, "is empty");
  if (path.find('\0') != std::string::npos) return BadPath(path, "holds a NUL byte");
  if (path[0] == '/' || path.find('\\') != std::string::npos) {
    return BadPath(path, "is not a relative path");
  }
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = std::string_view(path).substr(begin, end - begin);
    if (part == "..") return BadPath(path, "leaves the model's directory");
    if (part.empty()) return BadPath(path, "has an empty component");
    begin = end + 1;
  }
  return OkStatus();
}

Result<Request> ParseEntries(const ExternalEntries& entries) {
  Request request;
  std::vector<std::string_view> seen;
  for (const auto& [key, value] : entries) {
    for (std::string_view other : seen) {
      if (other == key) return Error(Code::kBadModel, "external data has two keys ", Quote(key));
    }
    if (seen.size() == 4) return Error(Code::kBadModel, "external data has too many keys");
    seen.push_back(key);
    if (key == "location") {
      request.path = value;
    } else if (key == "offset") {
      AICF_ASSIGN_OR_RETURN(request.offset, ParseCount(key, value));
    } else if (key == "length") {
      AICF_ASSIGN_OR_RETURN(request.length, ParseCount(key, value));
    } else if (key == "checksum") {
      return Error(Code::kUnsupported, "external data has a checksum, which is not verified");
    } else {
      return Error(Code::kBadModel, "external data has the unknown key ", Quote(key));
    }
  }
  return request;
}

constexpr int kOpenFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW;

// Kernels before 5.6, and some sandboxes: one component at a time, none of them a link.
int OpenByComponents(int directory, const std::string& path) {
  FileDescriptor at(dup(directory));
  for (size_t begin = 0;;) {
    const size_t end = path.find('/', begin);
    const std::string part = path.substr(begin, end - begin);
    if (end == std::string::npos) return openat(at.get(), part.c_str(), kOpenFlags);
    at = FileDescriptor(
        openat(at.get(), part.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (at.get() < 0) return -1;
    begin = end + 1;
  }
}

int OpenBeneath(int directory, const std::string& path) {
  open_how how = {};
  how.flags = kOpenFlags;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const long fd = Uninterrupted(
      [&] { return syscall(SYS_openat2, directory, path.c_str(), &how, sizeof how); });
  if (fd >= 0) return static_cast<int>(fd);
  const bool unavailable = errno == ENOSYS || errno == EPERM || errno == EINVAL || errno == EAGAIN;
  return unavailable ? OpenByComponents(directory, path) : -1;
}

Result<FileDescriptor> Open(const ModelLocation& location, const std::string& path) {
  if (location.directory.empty()) return BadPath(path, "is named by a model without a directory");
  const FileDescriptor directory(Uninterrupted(
      [&] { return open(location.directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (directory.get() < 0) {
    return Error(Code::kIo, "cannot open directory ", Quote(location.directory), ": ",
                 std::strerror(errno));
  }
  FileDescriptor file(OpenBeneath(directory.get(), path));
  if (file.get() >= 0) return file;
  if (errno == ELOOP || errno == EXDEV || errno == ENOTDIR) {
    return BadPath(path, "is, or passes through, a symbolic link or a file");
  }
  return Error(Code::kIo, "cannot open external data ", Quote(path), ": ", std::strerror(errno));
}

Status CheckFile(const ModelLocation& location, const std::string& path, const struct stat& info) {
  if (!S_ISREG(info.st_mode)) return BadPath(path, "is not a regular file");
  if (info.st_dev == location.device && info.st_ino == location.inode) {
    return BadPath(path, "is the model itself");
  }
  if (info.st_nlink > 1) return BadPath(path, "has several names (hard links); use a copy");
  return OkStatus();
}

Status ReadRange(int fd, const Request& request, std::vector<std::byte>& out) {
  size_t done = 0;
  while (done < out.size()) {
    const ssize_t n =
        pread(fd, out.data() + done, out.size() - done, static_cast<off_t>(request.offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      return Error(Code::kIo, "cannot read external data ", Quote(request.path), ": ",
                   n < 0 ? std::strerror(errno) : "it became shorter");
    }
    done += static_cast<size_t>(n);
  }
  return OkStatus();
}

}  // namespace

Result<ModelFile> OpenNamedFile(const ModelLocation& location, const std::string& path) {
  AICF_RETURN_IF_ERROR(CheckPath(path));
  ModelFile file;
  AICF_ASSIGN_OR_RETURN(file.fd, Open(location, path));
  struct stat info = {};
  if (fstat(file.fd.get(), &info) != 0) {
    return Error(Code::kIo, "cannot examine ", Quote(path), ": ", std::strerror(errno));
  }
  AICF_RETURN_IF_ERROR(CheckFile(location, path, info));
  file.size = static_cast<uint64_t>(info.st_size);
  file.device = info.st_dev;
  file.inode = info.st_ino;
  return file;
}

Result<std::vector<std::byte>> ReadExternalData(const ModelLocation& location,
                                                const ExternalEntries& entries, uint64_t bytes) {
  AICF_ASSIGN_OR_RETURN(const Request request, ParseEntries(entries));
  if (request.length && *request.length != bytes) {
    return Error(Code::kBadModel, "external data length is ", *request.length, ", expected ",
                 bytes);
  }
  AICF_ASSIGN_OR_RETURN(const ModelFile file, OpenNamedFile(location, request.path));
  if (!InRange(request.offset, bytes, file.size)) {
    return Error(Code::kBadModel, "external data of ", bytes, " bytes at offset ", request.offset,
                 " is outside ", Quote(request.path), " of ", file.size, " bytes");
  }
  std::vector<std::byte> out(bytes);
  AICF_RETURN_IF_ERROR(ReadRange(file.fd.get(), request, out));
  return out;
}

}  // namespace aicf
