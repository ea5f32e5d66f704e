#include "tests/endurance/counted_malloc.h"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace aicf::endurance {
namespace {

std::atomic<int64_t> g_bytes{0}, g_blocks{0};

}  // namespace

int64_t HeapBytes() { return g_bytes.load(std::memory_order_relaxed); }
int64_t HeapBlocks() { return g_blocks.load(std::memory_order_relaxed); }

#if !defined(AICF_SANITIZED)
namespace {

/// In front of every block.
struct Header {
  size_t bytes;   ///< asked for
  size_t before;  ///< bytes from the start of the C library's block to the caller's
};
static_assert(sizeof(Header) == 16, "blocks keep malloc's alignment");

Header& HeaderOf(void* block) { return static_cast<Header*>(block)[-1]; }

/// Of a block of the C library; null stays null.
void* GiveOut(void* whole, size_t bytes, size_t before) {
  if (whole == nullptr) return nullptr;
  void* const block = static_cast<std::byte*>(whole) + before;
  HeaderOf(block) = {bytes, before};
  g_bytes.fetch_add(static_cast<int64_t>(bytes), std::memory_order_relaxed);
  g_blocks.fetch_add(1, std::memory_order_relaxed);
  return block;
}

/// Gives the C library's block.
void* TakeBack(void* block) {
  const Header header = HeaderOf(block);
  g_bytes.fetch_sub(static_cast<int64_t>(header.bytes), std::memory_order_relaxed);
  g_blocks.fetch_sub(1, std::memory_order_relaxed);
  return static_cast<std::byte*>(block) - header.before;
}

bool TooMuch(size_t bytes, size_t more) {
  if (bytes <= PTRDIFF_MAX - more) return false;
  errno = ENOMEM;
  return true;
}

}  // namespace
#endif

}  // namespace aicf::endurance

#if !defined(AICF_SANITIZED)
extern "C" {

void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void* block);

// Visible, or libraries would keep calling their own.
#pragma GCC visibility push(default)

void* malloc(size_t bytes) noexcept {
  using namespace aicf::endurance;  // NOLINT(google-build-using-namespace)
  if (TooMuch(bytes, sizeof(Header))) return nullptr;
  return GiveOut(__libc_malloc(bytes + sizeof(Header)), bytes, sizeof(Header));
}

void free(void* block) noexcept {
  if (block != nullptr) __libc_free(aicf::endurance::TakeBack(block));
}

void* calloc(size_t count, size_t bytes) noexcept {
  using namespace aicf::endurance;  // NOLINT(google-build-using-namespace)
  size_t all = 0;
  if (__builtin_mul_overflow(count, bytes, &all) || TooMuch(all, sizeof(Header))) {
    errno = ENOMEM;
    return nullptr;
  }
  return GiveOut(__libc_calloc(1, all + sizeof(Header)), all, sizeof(Header));
}

void* realloc(void* block, size_t bytes) noexcept {
  if (block == nullptr) return malloc(bytes);
  if (bytes == 0) {
    free(block);
    return nullptr;
  }
  void* const moved = malloc(bytes);
  if (moved == nullptr) return nullptr;
  const size_t old = aicf::endurance::HeaderOf(block).bytes;
  std::memcpy(moved, block, old < bytes ? old : bytes);
  free(block);
  return moved;
}

void* reallocarray(void* block, size_t count, size_t bytes) noexcept {
  size_t all = 0;
  if (!__builtin_mul_overflow(count, bytes, &all)) return realloc(block, all);
  errno = ENOMEM;
  return nullptr;
}

void* memalign(size_t alignment, size_t bytes) noexcept {
  using namespace aicf::endurance;  // NOLINT(google-build-using-namespace)
  const size_t before = alignment < sizeof(Header) ? sizeof(Header) : alignment;
  if (TooMuch(bytes, before)) return nullptr;
  return GiveOut(__libc_memalign(before, bytes + before), bytes, before);
}

void* aligned_alloc(size_t alignment, size_t bytes) noexcept { return memalign(alignment, bytes); }

int posix_memalign(void** block, size_t alignment, size_t bytes) noexcept {
  const int kept = errno;
  void* const made = memalign(alignment, bytes);
  errno = kept;
  if (made == nullptr) return ENOMEM;
  *block = made;
  return 0;
}

void* valloc(size_t bytes) noexcept { return memalign(4096, bytes); }
void* pvalloc(size_t bytes) noexcept { return memalign(4096, (bytes + 4095) / 4096 * 4096); }

size_t malloc_usable_size(void* block) noexcept {
  return block == nullptr ? 0 : aicf::endurance::HeaderOf(block).bytes;
}

#pragma GCC visibility pop
}  // extern "C"
#endif
