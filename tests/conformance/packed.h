/// The operands of a case in the layout in which a variant expects them.
#pragma once

#include "base/status.h"
#include "kernels/abi/packing.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/options.h"

namespace aicf::conformance {

/// Whether the variant expects an operand in a layout of its own.
inline bool Packs(const abi::KernelInfo& kernel, const abi::Parameters& parameters,
                  const abi::Problem& problem) {
  for (size_t k = 0; k < problem.inputs.size(); ++k) {
    if (abi::LayoutOf(kernel, problem, parameters, k)) return true;
  }
  return false;
}
inline bool Packs(const KernelOption& option, const abi::Problem& problem) {
  return Packs(*option.kernel, option.candidate.variant.parameters, problem);
}

/// The case's buffers, where inputs that the variant expects packed are in the variant's own
/// layout.
inline Buffers WithPackedInputs(const abi::KernelInfo& kernel, const abi::Parameters& parameters,
                                const Case& c) {
  Buffers buffers = c.buffers;
  for (size_t k = 0; k < c.problem.inputs.size(); ++k) {
    if (!abi::LayoutOf(kernel, c.problem, parameters, k)) continue;
    buffers[k] = abi::PackedInput(kernel, c.problem, parameters, k, c.buffers[k].data());
  }
  return buffers;
}

/// Replaces the packed inputs in `got` by the case's own buffers, so that `got` can be compared
/// with the reference. `handed` is what WithPackedInputs returned. Errors: kInternal if the kernel
/// changed a packed input.
inline Status PutBackPackedInputs(const Case& c, const Buffers& handed, Buffers& got) {
  for (size_t k = 0; k < c.problem.inputs.size(); ++k) {
    if (handed[k] == c.buffers[k]) continue;
    if (got[k] != handed[k]) return Error(Code::kInternal, "packed input ", k, " was written");
    got[k] = c.buffers[k];
  }
  return OkStatus();
}

}  // namespace aicf::conformance
