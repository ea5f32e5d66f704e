/// Operands that no step may write: those that a kernel wants in a layout of its own
/// (KernelInfo::packed, pack, unpack), and those that it reads before it waits
/// (KernelInfo::reads_ahead). Asked of any kernel: those that have none included.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/abi/kernel.h"

namespace aicf::abi {

/// Whether the kernel reads the input before it waits (KernelInfo::reads_ahead).
inline bool ReadsAhead(const KernelInfo& kernel, const Problem& problem,
                       const Parameters& parameters, size_t input) {
  return kernel.reads_ahead != nullptr && parameters["ahead"] != 0 &&
         kernel.reads_ahead(problem, input);
}

/// The same parameters with "ahead" at 1. REQUIRES: the kernel takes them.
inline Parameters WithAhead(const KernelInfo& kernel, const Parameters& parameters) {
  const Parameters all = Completed(parameters, kernel.parameters);
  std::vector<Parameter> list(all.begin(), all.end());
  for (Parameter& p : list) p.value = p.name == "ahead" ? 1 : p.value;
  return Parameters(std::move(list));
}

/// The layout in which the kernel wants the input; nullopt: it reads the input as it is.
inline std::optional<PackedLayout> LayoutOf(const KernelInfo& kernel, const Problem& problem,
                                            const Parameters& parameters, size_t input) {
  if (kernel.packed == nullptr) return std::nullopt;
  return kernel.packed(problem, parameters, static_cast<int>(input));
}

/// The packed input, from the unpacked buffer's first byte. REQUIRES: LayoutOf gives a layout.
inline std::vector<std::byte> PackedInput(const KernelInfo& kernel, const Problem& problem,
                                          const Parameters& parameters, size_t input,
                                          const void* buffer) {
  std::vector<std::byte> packed(LayoutOf(kernel, problem, parameters, input)->bytes);
  kernel.pack(problem, parameters, static_cast<int>(input), buffer, packed.data());
  return packed;
}

/// A buffer that the input's view describes, from its first byte to the last that the view reaches;
/// bytes that the view names no element of are zero. REQUIRES: LayoutOf gives a layout; the view
/// has an extent.
inline std::vector<std::byte> UnpackedInput(const KernelInfo& kernel, const Problem& problem,
                                            const Parameters& parameters, size_t input,
                                            const void* packed) {
  std::vector<std::byte> buffer(static_cast<size_t>(ExtentOf(problem.inputs[input])->end));
  kernel.unpack(problem, parameters, static_cast<int>(input), packed, buffer.data());
  return buffer;
}

}  // namespace aicf::abi
