#include "tests/gpu/allocation_counter.h"

#include <cerrno>
#include <cstddef>

// glibc's own entry points, which the replacements below forward to.
extern "C" void* __libc_malloc(size_t bytes);
extern "C" void* __libc_calloc(size_t count, size_t bytes);
extern "C" void* __libc_realloc(void* block, size_t bytes);
extern "C" void* __libc_memalign(size_t alignment, size_t bytes);

namespace aicf::gpu {
namespace {

thread_local bool counting = false;
thread_local uint64_t allocation_count = 0;

[[maybe_unused]] void Count() {
  if (counting) ++allocation_count;
}

}  // namespace

AllocationCounter::AllocationCounter() {
  allocation_count = 0;
  counting = true;
}
AllocationCounter::~AllocationCounter() { counting = false; }
uint64_t AllocationCounter::count() const { return allocation_count; }

}  // namespace aicf::gpu

#if !defined(AICF_SANITIZED) && !defined(__SANITIZE_THREAD__)  // these bring their own
#pragma GCC visibility push(default)  // or libraries would keep calling their own
extern "C" {

void* malloc(size_t bytes) {
  aicf::gpu::Count();
  return __libc_malloc(bytes);
}

void* calloc(size_t count, size_t bytes) {
  aicf::gpu::Count();
  return __libc_calloc(count, bytes);
}

void* realloc(void* block, size_t bytes) {
  aicf::gpu::Count();
  return __libc_realloc(block, bytes);
}

void* aligned_alloc(size_t alignment, size_t bytes) {
  aicf::gpu::Count();
  return __libc_memalign(alignment, bytes);
}

int posix_memalign(void** block, size_t alignment, size_t bytes) {
  aicf::gpu::Count();
  *block = __libc_memalign(alignment, bytes);
  return *block != nullptr ? 0 : ENOMEM;
}

}  // extern "C"
#pragma GCC visibility pop
#endif
