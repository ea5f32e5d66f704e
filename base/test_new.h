/// Replaces every operator new and delete of a test program by one that calls three functions which
/// the program defines, so that a test can count requests for memory or let them fail. Include it
/// in exactly one source file of the program.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

namespace aicf::testing {

/// Called once for each request, before memory is allocated; the request fails if it returns
/// false.
bool MayAllocate();
/// Allocated is called after each successful request, Freed before memory is given back (never for
/// a null pointer).
void Allocated();
void Freed();

inline void* Told(void* p) {
  if (p != nullptr) Allocated();
  return p;
}
inline void GiveBack(void* p) {
  if (p != nullptr) Freed();
  std::free(p);
}

}  // namespace aicf::testing

// Every form is replaced, so that new and delete always end in malloc and free. If a sanitizer
// supplied some of the forms, it would see memory of one allocator freed by another.
// They are not inlined, because the compiler would then see free() applied to memory of operator
// new and take it for the wrong partner.
#define AICF_KEEP __attribute__((noinline))
AICF_KEEP void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  if (!aicf::testing::MayAllocate()) return nullptr;
  return aicf::testing::Told(std::malloc(bytes == 0 ? 1 : bytes));
}
AICF_KEEP void* operator new(std::size_t bytes, std::align_val_t alignment,
                             const std::nothrow_t&) noexcept {
  if (!aicf::testing::MayAllocate()) return nullptr;
  void* p = nullptr;
  const auto multiple = static_cast<std::size_t>(alignment);
  if (posix_memalign(&p, multiple, bytes == 0 ? 1 : bytes) != 0) return nullptr;
  return aicf::testing::Told(p);
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

#define AICF_DELETE(...)                                                               \
  AICF_KEEP void operator delete(__VA_ARGS__) noexcept { aicf::testing::GiveBack(p); } \
  AICF_KEEP void operator delete[](__VA_ARGS__) noexcept { aicf::testing::GiveBack(p); }
AICF_DELETE(void* p)
AICF_DELETE(void* p, std::size_t)
AICF_DELETE(void* p, const std::nothrow_t&)
AICF_DELETE(void* p, std::align_val_t)
AICF_DELETE(void* p, std::size_t, std::align_val_t)
AICF_DELETE(void* p, std::align_val_t, const std::nothrow_t&)
#undef AICF_DELETE
#undef AICF_KEEP
