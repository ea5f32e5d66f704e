/// Counts heap allocations of the calling thread. It replaces malloc and its siblings in this test
/// program, and thereby also operator new and the allocations of every library loaded with it.
#pragma once

#include <cstdint>

namespace aicf::gpu {

/// While an object lives, allocations of its thread are counted.
class AllocationCounter {
 public:
  AllocationCounter();
  ~AllocationCounter();
  AllocationCounter(const AllocationCounter&) = delete;
  AllocationCounter& operator=(const AllocationCounter&) = delete;
  uint64_t count() const;
};

}  // namespace aicf::gpu
