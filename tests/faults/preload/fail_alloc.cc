// A library that is preloaded into a program (LD_PRELOAD) and makes its Nth allocation fail:
// AICF_FAIL_AT=N, and with AICF_FAIL_STICKY=1 every later one as well. With AICF_COUNT_TO=FILE it
// writes at the end how many there were. With AICF_FAIL_IN_MAIN=1 only allocations made while main
// runs count: if one fails that libraries make earlier, as protobuf's tables do, there is nobody to
// report it to.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
}

namespace {

std::atomic<long> g_count{0};
std::atomic<long> g_fail_at{-1};  // -1: not read yet
bool g_sticky = false, g_in_main = false;
std::atomic<bool> g_running{false};  // main

bool Fails() {
  long at = g_fail_at.load(std::memory_order_relaxed);
  if (at < 0) {
    const char* text = getenv("AICF_FAIL_AT");
    g_sticky = getenv("AICF_FAIL_STICKY") != nullptr;
    g_in_main = getenv("AICF_FAIL_IN_MAIN") != nullptr;
    at = text == nullptr ? 0 : atol(text);
    g_fail_at.store(at);
  }
  if (g_in_main && !g_running.load(std::memory_order_relaxed)) return false;
  const long now = ++g_count;
  const bool fails = at > 0 && (now == at || (g_sticky && now > at));
  if (fails) errno = ENOMEM;
  return fails;
}

[[gnu::destructor]] void Report() {
  const char* path = getenv("AICF_COUNT_TO");
  if (path == nullptr) return;
  char line[32];
  const int length = snprintf(line, sizeof line, "%ld\n", g_count.load());
  const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (fd < 0) return;
  [[maybe_unused]] const ssize_t wrote = write(fd, line, static_cast<size_t>(length));
  close(fd);
}

using Main = int (*)(int, char**, char**);
using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
Main g_main = nullptr;

int RunMain(int argc, char** argv, char** environment) {
  g_running = true;
  const int code = g_main(argc, argv, environment);
  g_running = false;
  return code;
}

}  // namespace

extern "C" {

[[gnu::visibility("default")]] int __libc_start_main(Main main, int argc, char** argv,
                                                     void (*begin)(), void (*end)(),
                                                     void (*loader_end)(), void* stack) {
  g_main = main;
  const auto start = reinterpret_cast<Start>(dlsym(RTLD_NEXT, "__libc_start_main"));
  return start(RunMain, argc, argv, begin, end, loader_end, stack);
}

void* malloc(size_t bytes) { return Fails() ? nullptr : __libc_malloc(bytes); }
void* calloc(size_t count, size_t bytes) { return Fails() ? nullptr : __libc_calloc(count, bytes); }
void* realloc(void* old, size_t bytes) { return Fails() ? nullptr : __libc_realloc(old, bytes); }
void* memalign(size_t alignment, size_t bytes) {
  return Fails() ? nullptr : __libc_memalign(alignment, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void** out, size_t alignment, size_t bytes) {
  *out = memalign(alignment, bytes);
  return *out == nullptr ? ENOMEM : 0;
}
}
