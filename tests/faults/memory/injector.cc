#include "tests/faults/memory/injector.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace aicf::failing {
namespace {

std::atomic<bool> g_armed{false}, g_running{false}, g_sticky{false}, g_failed{false};
std::atomic<uint64_t> g_count{0}, g_at{0};
std::atomic<int64_t> g_objects{0}, g_mappings{0};

/// Whether this request is to fail.
bool Fails() {
  if (!g_armed.load(std::memory_order_relaxed)) return false;
  const uint64_t number = g_count.fetch_add(1, std::memory_order_relaxed) + 1;
  const uint64_t at = g_at.load(std::memory_order_relaxed);
  const bool fails =
      at != 0 && (g_sticky.load(std::memory_order_relaxed) ? number >= at : number == at);
  if (fails) g_failed.store(true, std::memory_order_relaxed);
  return fails;
}

}  // namespace

void Arm(uint64_t at, bool sticky) {
  g_count = 0;
  g_at = at;
  g_sticky = sticky;
  g_failed = false;
  g_armed = g_running = true;
}
uint64_t Disarm() {
  g_armed = g_running = false;
  return g_count;
}
void Pause() { g_armed = false; }
void Resume() { g_armed = g_running.load(); }
bool Failed() { return g_failed; }
int64_t LiveObjects() { return g_objects; }
int64_t LiveMappings() { return g_mappings; }

}  // namespace aicf::failing

// Every form is replaced, so that each pair of new and delete meets in malloc and free. Not
// inlined: the compiler would take free() for the wrong partner of operator new.
#define AICF_KEEP __attribute__((noinline))
AICF_KEEP void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  if (aicf::failing::Fails()) return nullptr;
  void* p = std::malloc(bytes == 0 ? 1 : bytes);
  if (p != nullptr) aicf::failing::g_objects.fetch_add(1, std::memory_order_relaxed);
  return p;
}
AICF_KEEP void* operator new(std::size_t bytes, std::align_val_t alignment,
                             const std::nothrow_t&) noexcept {
  if (aicf::failing::Fails()) return nullptr;
  void* p = nullptr;
  if (posix_memalign(&p, static_cast<std::size_t>(alignment), bytes == 0 ? 1 : bytes) != 0) {
    return nullptr;
  }
  aicf::failing::g_objects.fetch_add(1, std::memory_order_relaxed);
  return p;
}
AICF_KEEP void* operator new(std::size_t bytes) {
  if (void* p = operator new(bytes, std::nothrow)) return p;
  throw std::bad_alloc();
}
AICF_KEEP void* operator new(std::size_t bytes, std::align_val_t alignment) {
  if (void* p = operator new(bytes, alignment, std::nothrow)) return p;
  throw std::bad_alloc();
}
AICF_KEEP void* operator new[](std::size_t bytes) { return operator new(bytes); }
AICF_KEEP void* operator new[](std::size_t bytes, const std::nothrow_t& n) noexcept {
  return operator new(bytes, n);
}
AICF_KEEP void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return operator new(bytes, alignment);
}
AICF_KEEP void* operator new[](std::size_t bytes, std::align_val_t alignment,
                               const std::nothrow_t& n) noexcept {
  return operator new(bytes, alignment, n);
}

namespace {
void GiveBack(void* p) {
  if (p != nullptr) aicf::failing::g_objects.fetch_sub(1, std::memory_order_relaxed);
  std::free(p);
}
}  // namespace

#define AICF_DELETE(...)                                                \
  AICF_KEEP void operator delete(__VA_ARGS__) noexcept { GiveBack(p); } \
  AICF_KEEP void operator delete[](__VA_ARGS__) noexcept { GiveBack(p); }
AICF_DELETE(void* p)
AICF_DELETE(void* p, std::size_t)
AICF_DELETE(void* p, const std::nothrow_t&)
AICF_DELETE(void* p, std::align_val_t)
AICF_DELETE(void* p, std::size_t, std::align_val_t)
AICF_DELETE(void* p, std::align_val_t, const std::nothrow_t&)

extern "C" {
void* __real_aligned_alloc(size_t alignment, size_t bytes);
void* __real_mmap(void* at, size_t bytes, int protection, int flags, int fd, off_t offset);
int __real_munmap(void* at, size_t bytes);
int __real_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                          void* argument);

void* __wrap_aligned_alloc(size_t alignment, size_t bytes) {
  return aicf::failing::Fails() ? nullptr : __real_aligned_alloc(alignment, bytes);
}
void* __wrap_mmap(void* at, size_t bytes, int protection, int flags, int fd, off_t offset) {
  if (aicf::failing::Fails()) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  void* mapped = __real_mmap(at, bytes, protection, flags, fd, offset);
  if (mapped != MAP_FAILED) aicf::failing::g_mappings.fetch_add(1, std::memory_order_relaxed);
  return mapped;
}
int __wrap_munmap(void* at, size_t bytes) {
  aicf::failing::g_mappings.fetch_sub(1, std::memory_order_relaxed);
  return __real_munmap(at, bytes);
}
int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                          void* argument) {
  return aicf::failing::Fails() ? EAGAIN : __real_pthread_create(thread, attributes, run, argument);
}
}
