#include "compiler/codegen/image_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/log.h"
#include "base/status.h"

namespace aicf {
namespace {

constexpr char kMagic[8] = {'A', 'I', 'C', 'F', 'I', 'M', 'G', '1'};
constexpr uint64_t kMaxImageBytes = uint64_t{1} << 30;

struct EntryHeader {
  char magic[8];
  uint64_t key[2];
  uint64_t content[2];
  uint64_t bytes;
};

class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  bool ok() const { return fd_ >= 0; }
  int fd() const { return fd_; }

  bool Read(void* to, size_t bytes) {
    auto* p = static_cast<char*>(to);
    while (bytes > 0) {
      const ssize_t n = read(fd_, p, bytes);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      p += n;
      bytes -= static_cast<size_t>(n);
    }
    return true;
  }
  bool Write(const void* from, size_t bytes) {
    const auto* p = static_cast<const char*>(from);
    while (bytes > 0) {
      const ssize_t n = write(fd_, p, bytes);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      p += n;
      bytes -= static_cast<size_t>(n);
    }
    return true;
  }

 private:
  int fd_;
};

std::string DefaultFolder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && cache[0] == '/') return StrCat(cache, "/aicf");
  const char* home = std::getenv("HOME");
  if (home != nullptr && home[0] == '/') return StrCat(home, "/.cache/aicf");
  return "";
}

constexpr std::string_view kTemporaryMark = ".cubin.tmp.";

// Removes what killed writers left. A live writer holds a lock on its file.
void SweepTemporaries(const std::string& folder) {
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  // The increment of a range-based loop would throw.
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string path = entry->path();
    if (path.find(kTemporaryMark, folder.size()) == std::string::npos) continue;
    const File stale(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (stale.ok() && flock(stale.fd(), LOCK_EX | LOCK_NB) == 0) unlink(path.c_str());
  }
}

}  // namespace

ImageCache ImageCache::Open(const std::string& dir) {
  ImageCache cache;
  if (dir == "none") return cache;
  const std::string folder = dir.empty() ? DefaultFolder() : dir;
  if (folder.empty()) return cache;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error || access(folder.c_str(), W_OK | X_OK) != 0) {
    if (!dir.empty()) {
      Log(LogLevel::kWarning,
          StrCat("kernel cache '", folder, "' cannot be written; going on without"));
    }
    return cache;
  }
  SweepTemporaries(folder);
  cache.folder_ = folder;
  return cache;
}

std::string ImageCache::PathOf(const Hash128& key) const {
  return StrCat(folder_, "/", ToHex(key), ".cubin");
}

std::optional<std::vector<std::byte>> ImageCache::Load(const Hash128& key) const {
  if (folder_.empty()) return std::nullopt;
  File file(open(PathOf(key).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (!file.ok() || fstat(file.fd(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  EntryHeader header{};
  if (!file.Read(&header, sizeof header)) return std::nullopt;
  const bool ours = std::memcmp(header.magic, kMagic, sizeof kMagic) == 0 &&
                    Hash128{header.key[0], header.key[1]} == key &&
                    header.bytes <= kMaxImageBytes &&
                    header.bytes + sizeof header == static_cast<uint64_t>(info.st_size);
  if (!ours) return std::nullopt;
  std::vector<std::byte> image(header.bytes);
  if (!file.Read(image.data(), image.size())) return std::nullopt;
  if (!(HashBytes(image) == Hash128{header.content[0], header.content[1]})) return std::nullopt;
  return image;
}

void ImageCache::Store(const Hash128& key, std::span<const std::byte> image) const {
  if (folder_.empty()) return;
  static std::atomic<uint64_t> counter{0};
  const std::string path = PathOf(key);
  const std::string temporary =
      StrCat(path, ".tmp.", static_cast<int64_t>(getpid()), ".", counter.fetch_add(1));
  const Hash128 content = HashBytes(image);
  EntryHeader header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.key[0] = key.low;
  header.key[1] = key.high;
  header.content[0] = content.low;
  header.content[1] = content.high;
  header.bytes = image.size();
  bool written = false;
  {
    File file(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (!file.ok()) return;
    flock(file.fd(), LOCK_EX | LOCK_NB);  // so that no other process takes it for a leftover
    written = file.Write(&header, sizeof header) && file.Write(image.data(), image.size()) &&
              fsync(file.fd()) == 0;
  }
  if (!written || rename(temporary.c_str(), path.c_str()) != 0) unlink(temporary.c_str());
}

}  // namespace aicf
