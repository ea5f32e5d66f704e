/// Choosing: which variants of a kernel are worth considering for a problem, and what each is
/// predicted to cost. Linked by the compiler and its tools, never by the runtime, which only checks
/// what was chosen (CheckVariant). All functions are pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/abi/kernel.h"

namespace aicf::abi {

struct Candidate {
  Variant variant;
  double cost_us = 0;  ///< predicted microseconds; lower is preferred
  /// Name under which the fitted corrections of predicted times are kept (compiler/costs/fit.h):
  /// the kernel's key, with a suffix where the predictions of its variants err differently
  /// ("cuda.gemm.tiled_64x64"). A policy may also name a variant by it.
  std::string row = {};
};

/// How a kernel's candidates are listed: one row per kernel.
struct ChoiceRow {
  std::string_view key;
  /// The candidates in order of preference: of equal costs the earlier one wins. Empty where none
  /// of the parameter sets that the kernel considers is legal. A candidate's empty `row` stands for
  /// the key. REQUIRES: KernelInfo::supports accepted the problem on the device.
  std::vector<Candidate> (*candidates)(const Problem&, const DeviceSpec&);
};

/// Made from the family's rows (kernels/{cpu,cuda}/common/choose.cc.in).
template <Family F>
std::span<const ChoiceRow> CpuChoices();
template <Family F>
std::span<const ChoiceRow> CudaChoices();

/// The kernel's candidates, each of which CheckVariant accepts; an empty `row` is replaced by the
/// key. REQUIRES: as ChoiceRow::candidates.
std::vector<Candidate> CandidatesOf(const KernelInfo& kernel, const Problem& problem,
                                    const DeviceSpec& device);
/// The candidate that is predicted to be the fastest; nullopt where there are no candidates.
std::optional<Candidate> BestCandidate(const KernelInfo& kernel, const Problem& problem,
                                       const DeviceSpec& device);

}  // namespace aicf::abi
