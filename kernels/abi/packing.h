/// Operands that a kernel wants in a layout of its own (KernelInfo::packed_bytes, pack), asked of
/// any kernel: those that pack nothing included.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/abi/kernel.h"

namespace aicf::abi {

/// Bytes of the packed input; 0: the kernel reads the input as it is.
inline uint64_t PackedBytes(const KernelInfo& kernel, const Problem& problem, size_t input) {
  if (kernel.packed_bytes == nullptr) return 0;
  return kernel.packed_bytes(problem, static_cast<int>(input));
}

/// The packed input, from the unpacked buffer's first byte. REQUIRES: PackedBytes is not 0.
inline std::vector<std::byte> PackedInput(const KernelInfo& kernel, const Problem& problem,
                                          size_t input, const void* buffer) {
  std::vector<std::byte> packed(PackedBytes(kernel, problem, input));
  kernel.pack(problem, static_cast<int>(input), buffer, packed.data());
  return packed;
}

}  // namespace aicf::abi
