/// Opening files for reading. This is the one place where the path of a file from outside (a model,
/// a file that a model names, an artifact) becomes a descriptor. A path that the user gives may
/// lead anywhere; a path that a file names may not (OpenBeneath, OpenThroughStore).
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

/// A regular file and its properties. All of them are read from the open descriptor, never by path,
/// so that they belong to this file even if the path leads elsewhere by now.
struct OpenedFile {
  FileDescriptor fd;
  uint64_t size = 0;
  dev_t device = 0;  ///< identifies the file together with `inode`
  ino_t inode = 0;
  bool several_names = false;  ///< the file has more than one hard link
};

/// Opens a path that the user gave; symbolic links are followed. A pipe or a device is refused
/// instead of waited for.
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
/// component by component where it has no such call. The rules for the file itself are checked on
/// the descriptor after opening, so a concurrent process that exchanges files can only change which
/// file beneath the directory is read; it can never make a file outside of it readable.
/// Errors: kBadModel where the path or the file breaks a rule; kIo when it cannot be opened.
Result<OpenedFile> OpenBeneath(const std::string& directory, const std::string& path,
                               Links links = Links::kRefuse);

/// Like OpenBeneath, for folders whose files are links into a store elsewhere: `path` may lead from
/// `directory` through symbolic links to a file beneath `store`. The file is then opened beneath
/// the store by the rules of OpenBeneath, except that it may have several hard links.
/// Errors: as OpenBeneath; kBadModel also where the links end outside of `store`.
Result<OpenedFile> OpenThroughStore(const std::string& directory, const std::string& path,
                                    const std::string& store);

namespace internal {
/// The two ways in which OpenBeneath opens a path that it has checked. They return a descriptor, or
/// -1 and set errno.
int OpenInOneCall(int directory, const std::string& path);
int OpenByComponents(int directory, const std::string& path);
}  // namespace internal

}  // namespace aicf
