/// Memory where kernels expect their buffers: at multiples of 256 bytes.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>

namespace aicf::conformance {

struct FreeAligned {
  void operator()(void* p) const { std::free(p); }
};
using AlignedMemory = std::unique_ptr<void, FreeAligned>;

inline AlignedMemory AlignedCopy(std::span<const std::byte> bytes) {
  AlignedMemory memory(std::aligned_alloc(256, (bytes.size() + 511) / 256 * 256));
  std::memcpy(memory.get(), bytes.data(), bytes.size());
  return memory;
}

}  // namespace aicf::conformance
