#include "tests/endurance/counted_malloc.h"

#include <link.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace aicf::endurance {
namespace {

struct Counters {
  std::atomic<int64_t> bytes{0}, blocks{0};

  HeapCount Read() const {
    return {bytes.load(std::memory_order_relaxed), blocks.load(std::memory_order_relaxed)};
  }
  void Add(size_t of_bytes, int64_t of_blocks) {
    bytes.fetch_add(of_blocks * static_cast<int64_t>(of_bytes), std::memory_order_relaxed);
    blocks.fetch_add(of_blocks, std::memory_order_relaxed);
  }
};

/// Of everything else, and of the libraries that count apart.
Counters g_counters[2];

}  // namespace

HeapCount Heap() { return g_counters[0].Read(); }
HeapCount HeapApart() { return g_counters[1].Read(); }

#if defined(AICF_SANITIZED)
void CountApart(const char*) {}
#else
namespace {

/// Where the code of the libraries lies that count apart.
struct Range {
  uintptr_t begin, end;
};
Range g_apart[16];
size_t g_apart_count = 0;

bool IsApart(const void* caller) {
  const auto at = reinterpret_cast<uintptr_t>(caller);
  for (size_t i = 0; i < g_apart_count; ++i) {
    if (at >= g_apart[i].begin && at < g_apart[i].end) return true;
  }
  return false;
}

int AddRanges(dl_phdr_info* info, size_t, void* name) {
  if (std::strstr(info->dlpi_name, static_cast<const char*>(name)) == nullptr) return 0;
  for (int k = 0; k < info->dlpi_phnum; ++k) {
    const auto& part = info->dlpi_phdr[k];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    if (g_apart_count == std::size(g_apart)) return 1;
    const uintptr_t begin = info->dlpi_addr + part.p_vaddr;
    g_apart[g_apart_count++] = {begin, begin + part.p_memsz};
  }
  return 0;
}

/// In front of every block.
struct Header {
  size_t bytes;          ///< asked for
  uint64_t before : 63;  ///< bytes from the start of the C library's block to the caller's
  uint64_t apart : 1;    ///< which of the counters has it
};
static_assert(sizeof(Header) == 16, "blocks keep malloc's alignment");

Header& HeaderOf(void* block) { return static_cast<Header*>(block)[-1]; }

/// Of a block of the C library; null stays null.
void* GiveOut(void* whole, size_t bytes, size_t before, const void* caller) {
  if (whole == nullptr) return nullptr;
  void* const block = static_cast<std::byte*>(whole) + before;
  const bool apart = IsApart(caller);
  HeaderOf(block) = {bytes, before, apart};
  g_counters[apart ? 1 : 0].Add(bytes, 1);
  return block;
}

/// Gives the C library's block.
void* TakeBack(void* block) {
  const Header header = HeaderOf(block);
  g_counters[header.apart].Add(header.bytes, -1);
  return static_cast<std::byte*>(block) - header.before;
}

bool TooMuch(size_t bytes, size_t more) {
  if (bytes <= PTRDIFF_MAX - more) return false;
  errno = ENOMEM;
  return true;
}

}  // namespace

void CountApart(const char* name) {
  dl_iterate_phdr(AddRanges, const_cast<char*>(name));  // its callback only reads
}
#endif

}  // namespace aicf::endurance

#if !defined(AICF_SANITIZED)
extern "C" {

void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void* block);

static void* Allocate(size_t bytes, const void* caller) {
  using namespace aicf::endurance;  // NOLINT(google-build-using-namespace)
  if (TooMuch(bytes, sizeof(Header))) return nullptr;
  return GiveOut(__libc_malloc(bytes + sizeof(Header)), bytes, sizeof(Header), caller);
}

static void* Reallocate(void* block, size_t bytes, const void* caller) {
  if (block == nullptr) return Allocate(bytes, caller);
  if (bytes == 0) {
    free(block);
    return nullptr;
  }
  void* const moved = Allocate(bytes, caller);
  if (moved == nullptr) return nullptr;
  const size_t old = aicf::endurance::HeaderOf(block).bytes;
  std::memcpy(moved, block, old < bytes ? old : bytes);
  free(block);
  return moved;
}

static void* AllocateAligned(size_t alignment, size_t bytes, const void* caller) {
  using namespace aicf::endurance;  // NOLINT(google-build-using-namespace)
  const size_t before = alignment < sizeof(Header) ? sizeof(Header) : alignment;
  if (TooMuch(bytes, before)) return nullptr;
  return GiveOut(__libc_memalign(before, bytes + before), bytes, before, caller);
}

// Visible, or libraries would keep calling their own.
#pragma GCC visibility push(default)

void* malloc(size_t bytes) noexcept { return Allocate(bytes, __builtin_return_address(0)); }

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
  return GiveOut(__libc_calloc(1, all + sizeof(Header)), all, sizeof(Header),
                 __builtin_return_address(0));
}

void* realloc(void* block, size_t bytes) noexcept {
  return Reallocate(block, bytes, __builtin_return_address(0));
}

void* reallocarray(void* block, size_t count, size_t bytes) noexcept {
  size_t all = 0;
  if (!__builtin_mul_overflow(count, bytes, &all)) {
    return Reallocate(block, all, __builtin_return_address(0));
  }
  errno = ENOMEM;
  return nullptr;
}

void* memalign(size_t alignment, size_t bytes) noexcept {
  return AllocateAligned(alignment, bytes, __builtin_return_address(0));
}

void* aligned_alloc(size_t alignment, size_t bytes) noexcept {
  return AllocateAligned(alignment, bytes, __builtin_return_address(0));
}

int posix_memalign(void** block, size_t alignment, size_t bytes) noexcept {
  const int kept = errno;
  void* const made = AllocateAligned(alignment, bytes, __builtin_return_address(0));
  errno = kept;
  if (made == nullptr) return ENOMEM;
  *block = made;
  return 0;
}

void* valloc(size_t bytes) noexcept {
  return AllocateAligned(4096, bytes, __builtin_return_address(0));
}
void* pvalloc(size_t bytes) noexcept {
  return AllocateAligned(4096, (bytes + 4095) / 4096 * 4096, __builtin_return_address(0));
}

size_t malloc_usable_size(void* block) noexcept {
  return block == nullptr ? 0 : aicf::endurance::HeaderOf(block).bytes;
}

#pragma GCC visibility pop
}  // extern "C"
#endif
