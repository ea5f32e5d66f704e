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
  /// What corrections of predictions are kept under: the kernel's key, with a suffix where variants
  /// err differently ("cuda.gemm.tiled_64x64"). A policy may also name a variant by it.
  std::string row = {};
};

/// How a kernel's candidates are listed: one row per kernel.
struct ChoiceRow {
  std::string_view key;
  /// In order of preference: ties of cost go to the earlier one. Empty where no parameters that the
  /// kernel considers are legal. An empty `row` stands for the key. REQUIRES: KernelInfo::supports
  /// accepted.
  std::vector<Candidate> (*candidates)(const Problem&, const DeviceSpec&);
};

/// Made from the family's rows (kernels/{cpu,cuda}/common/choose.cc.in).
template <Family F>
std::span<const ChoiceRow> CpuChoices();
template <Family F>
std::span<const ChoiceRow> CudaChoices();

/// The kernel's candidates, each of which passes its check. REQUIRES: as ChoiceRow::candidates.
std::vector<Candidate> CandidatesOf(const KernelInfo& kernel, const Problem& problem,
                                    const DeviceSpec& device);
/// The one that is predicted to be the fastest; nullopt where there is none.
std::optional<Candidate> BestCandidate(const KernelInfo& kernel, const Problem& problem,
                                       const DeviceSpec& device);

}  // namespace aicf::abi
