#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/interrupted.h"
#include "tools/common/files.h"
#include "tools/common/process.h"

namespace aicf::tools {
namespace {

constexpr std::string_view kTemporarySuffix = ".aicf-tmp";
/// Bytes of the output's name that go into the temporary's name. A file name has at most 255 bytes;
/// the rest is for process id, number and suffix.
constexpr size_t kMaxStem = 200;

/// The start of a temporary's name. Its leading dot and the suffix are what SweepStale recognises.
std::string TemporaryPrefix(const std::string& name) {
  return "." + name.substr(0, kMaxStem) + ".";
}

/// A number that no other writer uses in its file's name, even one on another machine that shares
/// the directory.
uint64_t UniqueNumber() {
  uint64_t number = 0;
  if (getrandom(&number, sizeof number, GRND_NONBLOCK) == sizeof number) return number;
  return static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
}

/// Removes the temporaries of any output that killed writers left in the directory. A writer that
/// is still alive holds a lock on its file, so that file is kept.
void SweepStale(int directory) {
  const int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* listing = fd < 0 ? nullptr : fdopendir(fd);
  if (listing == nullptr) {
    if (fd >= 0) close(fd);
    return;
  }
  while (const dirent* entry = readdir(listing)) {
    const std::string_view name = entry->d_name;
    if (!name.starts_with('.') || !name.ends_with(kTemporarySuffix)) continue;
    const int stale =
        openat(directory, entry->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (stale < 0) continue;
    if (flock(stale, LOCK_EX | LOCK_NB) == 0) unlinkat(directory, entry->d_name, 0);
    close(stale);
  }
  closedir(listing);
}

/// The output's real path: a symbolic link is followed, so that the link stays and its target
/// changes.
std::string FollowLinks(const std::string& path) {
  struct stat info = {};
  if (lstat(path.c_str(), &info) != 0 || !S_ISLNK(info.st_mode)) return path;
  char* resolved = realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return path;
  std::string out(resolved);
  std::free(resolved);
  return out;
}

/// A rename that fails if the target exists. File systems without RENAME_NOREPLACE get a hard link
/// under the new name instead, after which the old name is removed.
int RenameNew(int directory, const char* from, const char* to) {
  if (renameat2(directory, from, directory, to, RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return -1;
  if (linkat(directory, from, directory, to, 0) != 0) return -1;
  return unlinkat(directory, from, 0);
}

}  // namespace

Status AtomicFile::Fail(std::string_view what) const {
  return Error(Code::kIo, path_, ": ", what, ": ", std::strerror(errno));
}

Result<AtomicFile> AtomicFile::Create(const std::string& path, Existing existing) {
  AtomicFile file;
  file.path_ = path;
  file.existing_ = existing;
  const std::string real = FollowLinks(path);
  const size_t slash = real.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : real.substr(0, slash + 1);
  file.name_ = slash == std::string::npos ? real : real.substr(slash + 1);
  if (file.name_.empty() || file.name_ == "." || file.name_ == "..") {
    return Error(Code::kIo, path, ": an output needs a file name");
  }
  file.directory_ =
      Uninterrupted([&] { return open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  if (file.directory_ < 0) return file.Fail("output directory");
  SweepStale(file.directory_);
  struct stat info = {};
  if (fstatat(file.directory_, file.name_.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) {
    if (!S_ISREG(info.st_mode)) return Error(Code::kIo, path, ": exists and is not a regular file");
    if (existing == Existing::kRefuse) {
      return Error(Code::kIo, path, ": exists; --force replaces it");
    }
  } else if (errno != ENOENT) {
    return file.Fail("output");
  }
  AICF_RETURN_IF_ERROR(file.OpenTemporary());
  return file;
}

Status AtomicFile::OpenTemporary() {
  for (int attempt = 0; attempt < 100; ++attempt) {
    temporary_ = StrCat(TemporaryPrefix(name_), getpid(), "-", UniqueNumber(), kTemporarySuffix);
    // The name is remembered before the file exists, so that a signal at any moment removes the
    // file. That is safe because no other file has this name.
    slot_ = RememberTemporary(directory_, temporary_);
    file_ = Uninterrupted([&] {
      return openat(directory_, temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    });
    if (file_ < 0) {
      ForgetTemporary(std::exchange(slot_, -1));
      if (errno == EEXIST) continue;
      return Fail("cannot create a file in the output directory");
    }
    // Failure is harmless: on a file system without locks a sweeper cannot lock the file either,
    // and it removes only what it has locked.
    (void)Uninterrupted([&] { return flock(file_, LOCK_EX); });
    // A sweeper may have removed the file between its creation and the lock.
    struct stat info = {};
    if (fstat(file_, &info) != 0) return Fail("cannot examine a file in the output directory");
    if (info.st_nlink > 0) return OkStatus();
    ForgetTemporary(std::exchange(slot_, -1));
    close(std::exchange(file_, -1));
  }
  return Error(Code::kIo, path_, ": no temporary name is free in the output directory");
}

AtomicFile& AtomicFile::operator=(AtomicFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(name_, other.name_);
  std::swap(temporary_, other.temporary_);
  std::swap(existing_, other.existing_);
  std::swap(directory_, other.directory_);
  std::swap(file_, other.file_);
  std::swap(slot_, other.slot_);
  return *this;
}

AtomicFile::~AtomicFile() {
  if (file_ >= 0) {
    unlinkat(directory_, temporary_.c_str(), 0);
    close(file_);
  }
  ForgetTemporary(slot_);
  if (directory_ >= 0) close(directory_);
}

Status AtomicFile::Write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = write(file_, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return Fail("write");
    bytes = bytes.subspan(static_cast<size_t>(wrote));
  }
  return OkStatus();
}

Status AtomicFile::Commit() {
  if (Uninterrupted([&] { return fsync(file_); }) != 0) return Fail("fsync");
  const int renamed = existing_ == Existing::kReplace
                          ? renameat(directory_, temporary_.c_str(), directory_, name_.c_str())
                          : RenameNew(directory_, temporary_.c_str(), name_.c_str());
  if (renamed != 0) return Fail("rename");
  ForgetTemporary(std::exchange(slot_, -1));
  // EINTR is no error here: close() has closed the file all the same, and fsync() has already
  // written everything.
  const int closed = close(std::exchange(file_, -1));
  if (closed != 0 && errno != EINTR) return Fail("close");
  const int synced = Uninterrupted([&] { return fsync(directory_); });
  if (synced != 0 && errno != EINVAL) return Fail("fsync of the directory");
  return OkStatus();
}

}  // namespace aicf::tools
