#include "tests/faults/memory/injector.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdlib>

#include "base/test_new.h"

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

bool aicf::testing::MayAllocate() { return !aicf::failing::Fails(); }
void aicf::testing::Allocated() {
  aicf::failing::g_objects.fetch_add(1, std::memory_order_relaxed);
}
void aicf::testing::Freed() { aicf::failing::g_objects.fetch_sub(1, std::memory_order_relaxed); }

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
