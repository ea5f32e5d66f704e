#include "base/open_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/interrupted.h"
#include "base/scanner.h"

namespace aicf {
namespace {

// O_NONBLOCK keeps open() from waiting on a pipe that nobody writes to; it has no effect on regular
// files.
constexpr int kReadFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

Status CannotOpen(std::string_view what, const std::string& path, int error) {
  return Error(Code::kIo, "cannot ", what, " ", Quote(path), ": ", std::strerror(error));
}

Status BadLocation(const std::string& path, std::string_view why) {
  return Error(Code::kBadModel, "location ", Quote(path), " ", why);
}

std::string_view KindOfFile(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

Status CheckLocation(const std::string& path) {
  if (path.empty()) return BadLocation(path, "is empty");
  if (path.find('\0') != std::string::npos) return BadLocation(path, "holds a NUL byte");
  if (path[0] == '/' || path.find('\\') != std::string::npos) {
    return BadLocation(path, "is not a relative path");
  }
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = std::string_view(path).substr(begin, end - begin);
    if (part == "..") return BadLocation(path, "leaves the model's directory");
    if (part.empty()) return BadLocation(path, "has an empty component");
    begin = end + 1;
  }
  return OkStatus();
}

Result<mode_t> Examine(OpenedFile& file, const std::string& path) {
  struct stat info = {};
  if (fstat(file.fd.get(), &info) != 0) return CannotOpen("examine", path, errno);
  file.size = static_cast<uint64_t>(info.st_size);
  file.device = info.st_dev;
  file.inode = info.st_ino;
  file.several_names = info.st_nlink > 1;
  return info.st_mode;
}

// The path of `file` relative to `store`, both of which are real paths. `path` is what the message
// names when the file is not in the store.
Result<std::string> InStore(const std::string& path, const std::string& file,
                            const std::string& store) {
  const bool root = store == "/";
  const size_t length = root ? 0 : store.size();
  if (file.starts_with(store) && file.size() > length + 1 && file[length] == '/') {
    return file.substr(length + 1);
  }
  return BadLocation(path, StrCat("ends outside ", Quote(store)));
}

Result<std::string> RealPath(const std::string& path) {
  char out[PATH_MAX];
  if (realpath(path.c_str(), out) == nullptr) return CannotOpen("open", path, errno);
  return std::string(out);
}

}  // namespace

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) close(fd_);
}

namespace internal {

int OpenInOneCall(int directory, const std::string& path) {
  open_how how = {};
  how.flags = kReadFlags | O_NOFOLLOW;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(syscall(SYS_openat2, directory, path.c_str(), &how, sizeof how));
}

int OpenByComponents(int directory, const std::string& path) {
  FileDescriptor at(fcntl(directory, F_DUPFD_CLOEXEC, 0));
  for (size_t begin = 0;;) {
    if (at.get() < 0) return -1;
    const size_t end = path.find('/', begin);
    const std::string part = path.substr(begin, end - begin);
    if (end == std::string::npos) {
      return openat(at.get(), part.c_str(), kReadFlags | O_NOFOLLOW);
    }
    at = FileDescriptor(openat(at.get(), part.c_str(), kFolderFlags | O_NOFOLLOW));
    begin = end + 1;
  }
}

}  // namespace internal

Result<OpenedFile> OpenRegularFile(const std::string& path) {
  OpenedFile file;
  file.fd = FileDescriptor(Uninterrupted([&] { return open(path.c_str(), kReadFlags); }));
  if (file.fd.get() < 0) return CannotOpen("open", path, errno);
  AICF_ASSIGN_OR_RETURN(const mode_t mode, Examine(file, path));
  if (S_ISREG(mode)) return file;
  return Error(Code::kIo, Quote(path), " is not a regular file but ", KindOfFile(mode));
}

Result<OpenedFile> OpenBeneath(const std::string& directory, const std::string& path, Links links) {
  AICF_RETURN_IF_ERROR(CheckLocation(path));
  const FileDescriptor folder(Uninterrupted([&] { return open(directory.c_str(), kFolderFlags); }));
  if (folder.get() < 0) return CannotOpen("open directory", directory, errno);
  OpenedFile file;
  file.fd =
      FileDescriptor(Uninterrupted([&] { return internal::OpenInOneCall(folder.get(), path); }));
  // Kernels before 5.6, and some sandboxes, have no openat2. EAGAIN means that the kernel saw a
  // rename during the look-up and cannot say where the path led; opening component by component
  // leaves no such doubt.
  const bool unavailable = file.fd.get() < 0 && (errno == ENOSYS || errno == EPERM ||
                                                 errno == EINVAL || errno == EAGAIN);
  if (unavailable) {
    file.fd = FileDescriptor(
        Uninterrupted([&] { return internal::OpenByComponents(folder.get(), path); }));
  }
  if (file.fd.get() < 0) {
    if (errno == ELOOP || errno == EXDEV || errno == ENOTDIR) {
      return BadLocation(path,
                         "is, or passes through, a symbolic link or a file; --external-data-dir "
                         "accepts links to files in a directory");
    }
    return CannotOpen("open", path, errno);
  }
  AICF_ASSIGN_OR_RETURN(const mode_t mode, Examine(file, path));
  if (!S_ISREG(mode)) return BadLocation(path, "is not a regular file");
  if (file.several_names && links == Links::kRefuse) {
    return BadLocation(path, "has several names (hard links); use a copy, or --external-data-dir");
  }
  return file;
}

Result<OpenedFile> OpenThroughStore(const std::string& directory, const std::string& path,
                                    const std::string& store) {
  AICF_RETURN_IF_ERROR(CheckLocation(path));
  AICF_ASSIGN_OR_RETURN(const std::string root, RealPath(store));
  AICF_ASSIGN_OR_RETURN(const std::string end, RealPath(StrCat(directory, "/", path)));
  AICF_ASSIGN_OR_RETURN(const std::string inside, InStore(path, end, root));
  // RealPath only looked up where the links end; they may have changed since. Therefore the file
  // itself is opened by the rules of OpenBeneath.
  return OpenBeneath(root, inside, Links::kAccept);
}

}  // namespace aicf
