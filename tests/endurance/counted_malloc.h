/// Counts the heap memory that this program and every library in it have requested. These numbers
/// are exact, whereas the C library's own statistics depend on how it happens to divide its blocks.
#pragma once

#include <cstdint>

namespace aicf::endurance {

/// What has been allocated and not freed. All are 0 with sanitizers, which have their own
/// allocators.
struct HeapCount {
  int64_t bytes = 0;
  int64_t blocks = 0;
};

/// What everything but the libraries of CountApart has asked for.
HeapCount Heap();
/// What they have asked for.
HeapCount HeapApart();

/// From now on, what a library asks for whose path contains `name` counts apart. Ask once it is
/// loaded. A block counts for whoever called malloc: what such a library asks of the C++ library
/// counts with the rest. REQUIRES: no other thread allocates.
void CountApart(const char* name);

}  // namespace aicf::endurance
