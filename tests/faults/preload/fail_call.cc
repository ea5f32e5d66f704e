// A library that is preloaded into a program (LD_PRELOAD) and makes its Nth call to the file system
// fail, as a disk or a kernel would. Calls of these kinds are counted, if main or its threads make
// them through the C library:
//   open create read write sync close rename unlink link stat lock list mkdir map
// AICF_FAIL_AT=N        the call that fails, from 1; with AICF_FAIL_STICKY=1 also every later one
//                       whose kind AICF_FAIL_KINDS (",write,sync,") names
// AICF_FAIL_WITH=HOW    a number: the call is not made and errno is set to it (close closes all the
//                       same, as on Linux);
//                       short: only half of a read or a write is done;
//                       kill: SIGKILL instead of the call;
//                       torn: half of a write is done, then SIGKILL;
//                       term: the call is made, then SIGTERM
// AICF_TRACE_TO=FILE    writes one line per call, "kind path"
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

enum class How { kDone, kError, kShort };

struct Plan {
  long at = 0;
  bool sticky = false, trace = false;
  bool cut = false, kill = false;  // half of it is done; then, or at once, the end
  bool term = false;
  int error = 0;
  const char* kinds = "";
  int trace_fd = -1;
};

std::atomic<bool> g_running{false};  // main
std::atomic<long> g_count{0};
thread_local bool g_signal_after = false;  // the call that is being made

Plan ReadPlan() {
  Plan plan;
  const auto text = [](const char* name) {
    const char* value = getenv(name);
    return value == nullptr ? "" : value;
  };
  plan.at = atol(text("AICF_FAIL_AT"));
  plan.sticky = *text("AICF_FAIL_STICKY") != 0;
  plan.kinds = text("AICF_FAIL_KINDS");
  const char* with = text("AICF_FAIL_WITH");
  plan.cut = strcmp(with, "short") == 0 || strcmp(with, "torn") == 0;
  plan.kill = strcmp(with, "kill") == 0 || strcmp(with, "torn") == 0;
  plan.term = strcmp(with, "term") == 0;
  plan.error = atoi(with);
  const char* trace = text("AICF_TRACE_TO");
  if (*trace != 0) {
    const long fd = syscall(SYS_openat, AT_FDCWD, trace, O_WRONLY | O_CREAT | O_APPEND, 0644);
    // Out of the way of the program's own descriptors.
    plan.trace_fd = static_cast<int>(syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 700));
    syscall(SYS_close, fd);
  }
  return plan;
}

const Plan& ThePlan() {
  static const Plan plan = ReadPlan();
  return plan;
}

void Trace(const char* kind, const char* path) {
  char line[512];
  const int length = snprintf(line, sizeof line, "%s %.400s\n", kind, path);
  if (length > 0) syscall(SYS_write, ThePlan().trace_fd, line, static_cast<size_t>(length));
}

void Trace(const char* kind, int fd) {
  char link[40], path[400];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const long length = syscall(SYS_readlink, link, path, sizeof path - 1);
  path[length > 0 ? length : 0] = 0;
  Trace(kind, path);
}

bool IsNamed(const char* kind) {
  char wanted[24];
  snprintf(wanted, sizeof wanted, ",%s,", kind);
  return strstr(ThePlan().kinds, wanted) != nullptr;
}

/// What becomes of the next call. `what` is its path or its descriptor.
template <class What>
How Next(const char* kind, What what) {
  if (!g_running.load(std::memory_order_relaxed)) return How::kDone;
  const Plan& plan = ThePlan();
  if (plan.trace_fd >= 0) Trace(kind, what);
  const long now = ++g_count;
  if (plan.at == 0 || now < plan.at) return How::kDone;
  if (now > plan.at && !(plan.sticky && IsNamed(kind))) return How::kDone;
  if (plan.term) {
    g_signal_after = true;
    return How::kDone;
  }
  if (plan.cut) return How::kShort;
  if (plan.kill) raise(SIGKILL);
  errno = plan.error;
  return How::kError;
}

template <class F>
F Real(F, const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}
#define REAL(name)                             \
  static const auto real = Real(&name, #name); \
  const int saved_errno = errno

/// What a call that was made gives its caller.
template <class T>
T Made(T result) {
  if (!g_signal_after) return result;
  g_signal_after = false;
  const int error = errno;
  raise(SIGTERM);
  errno = error;
  return result;
}

/// The bytes of a read or a write that are done.
size_t Some(How how, size_t bytes) { return how == How::kShort && bytes > 1 ? bytes / 2 : bytes; }

/// Where a call was to be torn, the end has come.
ssize_t Torn(How how, ssize_t result) {
  if (how == How::kShort && ThePlan().kill) raise(SIGKILL);
  return result;
}

const char* OpenKind(int flags) { return (flags & O_CREAT) != 0 ? "create" : "open"; }

mode_t ModeOf(int flags, va_list rest) { return (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0; }

using Main = int (*)(int, char**, char**);
using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
Main g_main = nullptr;

int RunMain(int argc, char** argv, char** environment) {
  (void)ThePlan();
  g_running = true;
  const int code = g_main(argc, argv, environment);
  g_running = false;
  return code;
}

}  // namespace

// A call that is made restores errno first: a successful function leaves it alone.
#define FORWARD(kind, what, ...)                  \
  if (Next(kind, what) == How::kError) return -1; \
  errno = saved_errno;                            \
  return Made(real(__VA_ARGS__))

#define OPEN(name)                                     \
  int name(const char* path, int flags, ...) {         \
    REAL(name);                                        \
    va_list rest;                                      \
    va_start(rest, flags);                             \
    const mode_t mode = ModeOf(flags, rest);           \
    va_end(rest);                                      \
    FORWARD(OpenKind(flags), path, path, flags, mode); \
  }
#define OPENAT(name)                                       \
  int name(int at, const char* path, int flags, ...) {     \
    REAL(name);                                            \
    va_list rest;                                          \
    va_start(rest, flags);                                 \
    const mode_t mode = ModeOf(flags, rest);               \
    va_end(rest);                                          \
    FORWARD(OpenKind(flags), path, at, path, flags, mode); \
  }
#define FOPEN(name)                                                                  \
  FILE* name(const char* path, const char* mode) {                                   \
    REAL(name);                                                                      \
    if (Next(*mode == 'r' ? "open" : "create", path) == How::kError) return nullptr; \
    errno = saved_errno;                                                             \
    return Made(real(path, mode));                                                   \
  }
#define TRANSFER(name, kind, pointer, ...)                                      \
  {                                                                             \
    REAL(name);                                                                 \
    const How how = Next(kind, fd);                                             \
    if (how == How::kError) return -1;                                          \
    errno = saved_errno;                                                        \
    const size_t some = Some(how, bytes);                                       \
    return Made(Torn(how, real(fd, pointer, some __VA_OPT__(, ) __VA_ARGS__))); \
  }
#define STAT(name)                                \
  int name(const char* path, struct stat* info) { \
    REAL(name);                                   \
    FORWARD("stat", path, path, info);            \
  }

// The program is to find these.
#pragma GCC visibility push(default)
extern "C" {

int __libc_start_main(Main main, int argc, char** argv, void (*begin)(), void (*end)(),
                      void (*loader_end)(), void* stack) {
  g_main = main;
  const auto start = reinterpret_cast<Start>(dlsym(RTLD_NEXT, "__libc_start_main"));
  return start(RunMain, argc, argv, begin, end, loader_end, stack);
}

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
FOPEN(fopen)
FOPEN(fopen64)

// openat2 has no function of its own.
long syscall(long number, ...) noexcept {
  REAL(syscall);
  va_list rest;
  va_start(rest, number);
  long a[6];
  for (long& value : a) value = va_arg(rest, long);
  va_end(rest);
  if (number == SYS_openat2 && g_running.load(std::memory_order_relaxed) &&
      Next("open", reinterpret_cast<const char*>(a[1])) == How::kError) {
    return -1;
  }
  errno = saved_errno;
  return Made(real(number, a[0], a[1], a[2], a[3], a[4], a[5]));
}

ssize_t read(int fd, void* to, size_t bytes) TRANSFER(read, "read", to) ssize_t
    pread(int fd, void* to, size_t bytes, off_t at) TRANSFER(pread, "read", to, at) ssize_t
    pread64(int fd, void* to, size_t bytes, off64_t at) TRANSFER(pread64, "read", to, at) ssize_t
    write(int fd, const void* from, size_t bytes) TRANSFER(write, "write", from)

        int fsync(int fd) {
  REAL(fsync);
  FORWARD("sync", fd, fd);
}
int fdatasync(int fd) {
  REAL(fdatasync);
  FORWARD("sync", fd, fd);
}
int close(int fd) {
  REAL(close);
  const How how = Next("close", fd);
  const int error = errno;
  errno = saved_errno;
  const int result = Made(real(fd));
  if (how != How::kError) return result;
  errno = error;
  return -1;
}
int rename(const char* from, const char* to) noexcept {
  REAL(rename);
  FORWARD("rename", to, from, to);
}
int renameat(int a, const char* from, int b, const char* to) noexcept {
  REAL(renameat);
  FORWARD("rename", to, a, from, b, to);
}
int renameat2(int a, const char* from, int b, const char* to, unsigned flags) noexcept {
  REAL(renameat2);
  FORWARD("rename", to, a, from, b, to, flags);
}
int unlink(const char* path) noexcept {
  REAL(unlink);
  FORWARD("unlink", path, path);
}
int unlinkat(int at, const char* path, int flags) noexcept {
  REAL(unlinkat);
  FORWARD("unlink", path, at, path, flags);
}
int linkat(int a, const char* from, int b, const char* to, int flags) noexcept {
  REAL(linkat);
  FORWARD("link", to, a, from, b, to, flags);
}
int fstat(int fd, struct stat* info) noexcept {
  REAL(fstat);
  FORWARD("stat", fd, fd, info);
}
STAT(stat)
STAT(lstat)
int fstatat(int at, const char* path, struct stat* info, int flags) noexcept {
  REAL(fstatat);
  FORWARD("stat", path, at, path, info, flags);
}
int flock(int fd, int operation) noexcept {
  REAL(flock);
  FORWARD("lock", fd, fd, operation);
}
int mkdir(const char* path, mode_t mode) noexcept {
  REAL(mkdir);
  FORWARD("mkdir", path, path, mode);
}
DIR* opendir(const char* path) {
  REAL(opendir);
  if (Next("list", path) == How::kError) return nullptr;
  errno = saved_errno;
  return Made(real(path));
}
DIR* fdopendir(int fd) {
  REAL(fdopendir);
  if (Next("list", fd) == How::kError) return nullptr;
  errno = saved_errno;
  return Made(real(fd));
}
dirent* readdir(DIR* listing) {
  REAL(readdir);
  if (Next("list", dirfd(listing)) == How::kError) return nullptr;
  errno = saved_errno;
  return Made(real(listing));
}
void* mmap(void* at, size_t bytes, int protection, int flags, int fd, off_t offset) noexcept {
  REAL(mmap);
  if (Next("map", "") == How::kError) return MAP_FAILED;
  errno = saved_errno;
  return Made(real(at, bytes, protection, flags, fd, offset));
}
}
#pragma GCC visibility pop
