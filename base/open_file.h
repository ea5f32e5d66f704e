/// Opening files for reading: the one place where the path of a model, of what it names, of an
/// artifact or of another file from outside becomes a descriptor. A path is named by the user, who
/// may name what he likes, or by a file, which may not.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace aicf {

/// A file descriptor, closed with its owner.
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

/// A regular file, and what its descriptor says about it; nothing here is known by its path.
struct OpenedFile {
  FileDescriptor fd;
  uint64_t size = 0;
  dev_t device = 0;  ///< with inode: identity
  ino_t inode = 0;
  bool several_names = false;  ///< hard links
};

/// Opens what the user named; links are followed. Never waits: a pipe or a device is refused.
/// Errors: kIo when it is absent, unreadable, or no regular file.
Result<OpenedFile> OpenRegularFile(const std::string& path);

/// How a file may be reached.
enum class Links : unsigned char {
  kRefuse,  ///< through no symbolic link, and with one name only
  kAccept,  ///< hard links are accepted; symbolic links never are
};

/// Opens a file that another file named. `path` has to be relative, without "..", "." at its end,
/// empty components, backslashes or NUL, and to reach a regular file beneath `directory` through no
/// symbolic link. The kernel resolves it in one call that cannot leave the directory (openat2), or
/// component by component where it has no such call, and the rules are checked on what was opened:
/// who exchanges files meanwhile changes which file beneath the directory is read, never more.
/// Errors: kBadModel where the path or the file breaks a rule; kIo when it cannot be opened.
Result<OpenedFile> OpenBeneath(const std::string& directory, const std::string& path,
                               Links links = Links::kRefuse);

/// The same for stores that put files elsewhere and link to them: `path` may go from `directory`
/// through symbolic links that end in a file beneath `store`, which is then opened there, hard
/// links accepted. Errors: as OpenBeneath; kBadModel also where it ends outside.
Result<OpenedFile> OpenThroughStore(const std::string& directory, const std::string& path,
                                    const std::string& store);

namespace internal {
/// The two ways of OpenBeneath for a path that is checked: a descriptor, or -1 and errno.
int OpenInOneCall(int directory, const std::string& path);
int OpenByComponents(int directory, const std::string& path);
}  // namespace internal

}  // namespace aicf
