/// What a cost source is asked about a program before its kernels are chosen.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/lowered.h"
#include "compiler/passes/pass.h"
#include "compiler/select/candidates.h"
#include "compiler/select/options.h"

namespace aicf {

/// Empty, or why the kernel cannot run the step with these parameters: they would pack an operand
/// that is not constant, read an operand before the kernel waits for the one before it that is no
/// constant, no meta, and no state that this step alone changes, or pack a constant that a view
/// repeats into many times its bytes.
std::string RefuseOperands(const abi::KernelInfo& kernel, const abi::Parameters& parameters,
                           const ir::Lowered& lowered, const ir::LoweredStep& step);

/// What one kernel can do for a step. Policy has no say here.
struct Offer {
  const abi::KernelInfo* kernel = nullptr;
  /// Empty, or why it cannot run the step: unsupported problem, operands that every candidate would
  /// have packed and that are not constant, or not deterministic where that is asked for.
  std::string refusal;
  std::vector<abi::Candidate> candidates;  ///< those that RefuseOperands lets pass; none if refused
};

/// The offers of all kernels of the device, in the order of their rows.
std::vector<Offer> OffersOf(const ir::Lowered& lowered, const ir::LoweredStep& step,
                            const PlanOptions& options, Candidates& candidates);

/// The question about a step, without its subject: all candidates that are offered.
CostQuestion QuestionOf(const ir::LoweredStep& step, const std::vector<Offer>& offers);

/// Calls CostSource::Prepare with the questions about all steps. A question is `open` where the
/// policy names no kernel for its step. Does nothing without a cost source.
Status PrepareCosts(const ir::Lowered& lowered, const PlanOptions& options, Candidates& candidates);

/// The algorithm of a library's kernel from the timing cache, or else from the library itself.
/// Errors: the sentence that refuses the kernel without one.
Result<LibraryAlgorithm> AskForAlgorithm(const PlanOptions& options, const abi::KernelInfo& kernel,
                                         const abi::Problem& problem,
                                         const abi::DeviceSpec& device);

/// The source's costs of the question's options, or the predicted ones without a source.
std::vector<KernelCost> CostsOf(const CostQuestion& question, const PlanOptions& options,
                                const abi::DeviceSpec& device);

}  // namespace aicf
