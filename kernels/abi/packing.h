/// Operands that no other step may write: those that a kernel wants in its own layout
/// (KernelInfo::packed, pack, unpack), and those that it reads before it waits for its predecessor
/// (KernelInfo::reads_ahead). ReadsAhead and LayoutOf may be asked of every kernel, also of one
/// without such operands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/abi/kernel.h"

namespace aicf::abi {

/// Whether the kernel, with these parameters, reads the input before it waits for its predecessor
/// (KernelInfo::reads_ahead).
inline bool ReadsAhead(const KernelInfo& kernel, const Problem& problem,
                       const Parameters& parameters, size_t input) {
  return kernel.reads_ahead != nullptr && parameters["ahead"] != 0 &&
         kernel.reads_ahead(problem, input);
}

/// The parameters with "ahead" set to 1 if the kernel has it, and with every name that the kernel
/// lists. REQUIRES: the kernel takes the parameters.
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

/// The unpacked buffer, from its first byte to the last that the input's view reaches. Bytes that
/// belong to no element of the view are zero. REQUIRES: LayoutOf gives a layout; ExtentOf accepts
/// the view.
inline std::vector<std::byte> UnpackedInput(const KernelInfo& kernel, const Problem& problem,
                                            const Parameters& parameters, size_t input,
                                            const void* packed) {
  std::vector<std::byte> buffer(static_cast<size_t>(ExtentOf(problem.inputs[input])->end));
  kernel.unpack(problem, parameters, static_cast<int>(input), packed, buffer.data());
  return buffer;
}

}  // namespace aicf::abi
