/// Counts the heap memory that this program and every library in it have requested. These numbers
/// are exact, whereas the C library's own statistics depend on how it happens to divide its blocks.
#pragma once

#include <cstdint>

namespace aicf::endurance {

/// Bytes and blocks that have been allocated and not freed. Both are 0 with sanitizers, which have
/// their own allocators.
int64_t HeapBytes();
int64_t HeapBlocks();

}  // namespace aicf::endurance
