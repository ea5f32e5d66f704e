/// The heap of this program and of every library in it, counted by what was asked for: the exact
/// number of bytes, where the C library's own statistics depend on how blocks happen to be cut.
#pragma once

#include <cstdint>

namespace aicf::endurance {

/// Bytes and blocks that were given out and not given back. 0 with sanitizers, which bring their
/// own allocators.
int64_t HeapBytes();
int64_t HeapBlocks();

}  // namespace aicf::endurance
