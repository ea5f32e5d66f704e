#include "runtime/cpu/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <utility>

namespace aicf {
namespace {

/// Below this a transparent huge page cannot be used; above it, it saves thousands of page faults.
constexpr uint64_t kHugePageBytes = uint64_t{2} << 20;

uint64_t PhysicalBytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGE_SIZE);
  if (pages <= 0 || page <= 0) return UINT64_MAX;
  return static_cast<uint64_t>(pages) * static_cast<uint64_t>(page);
}

}  // namespace

HostMemory& HostMemory::operator=(HostMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

HostMemory::~HostMemory() {
  if (data_ != nullptr) munmap(data_, size_);
}

Result<HostMemory> HostMemory::Allocate(std::string_view what, uint64_t bytes) {
  HostMemory memory;
  if (bytes == 0) return memory;
  // The kernel would grant far more than it has and kill the process at the first touch.
  const uint64_t physical = PhysicalBytes();
  void* address = MAP_FAILED;
  if (bytes <= physical) {
    address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  if (address == MAP_FAILED) {
    return Error(Code::kResource, what, ": needs ", bytes,
                 " bytes of host memory; the machine has ", physical, " in all");
  }
  if (bytes >= kHugePageBytes) (void)madvise(address, bytes, MADV_HUGEPAGE);
  memory.data_ = static_cast<std::byte*>(address);
  memory.size_ = bytes;
  return memory;
}

}  // namespace aicf
