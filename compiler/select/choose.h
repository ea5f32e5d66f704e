/// Choosing kernels: one per step with its parameters, from an ordered list in which every refusal
/// has a sentence.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/lowered.h"
#include "compiler/passes/pass.h"
#include "compiler/select/options.h"

namespace aicf {

/// "step 12 [Conv_3, Relu_4]": how decisions name a step.
std::string StepSubject(size_t index, const ir::LoweredStep& step);

struct KernelChoice {
  const abi::KernelInfo* kernel = nullptr;
  abi::Variant variant;
  LibraryAlgorithm algorithm;  ///< library kernels only
};

/// Chooses kernel and variant of every step, in order. Preference: a wish; the policy; the lowest
/// time among the candidates for which PlanOptions::costs has a measured one (times that differ by
/// no more than their spread are a tie, which the prediction breaks); the lowest predicted cost,
/// where a tie goes to the earlier row. A library's kernel is a candidate only where the policy
/// names it: its algorithm binds the artifact to one version of the library, and the machine that
/// compiles must have it. Records one "kernel" decision per step with every other kernel at its
/// best candidate, a "parameters" decision with the kernel's other candidates where it has
/// parameters, an "algorithm" decision after that of a library's kernel, and one "precision"
/// decision. Errors: kUnsupported when no variant takes a step, or when --policy-strict or a wish
/// cannot be honoured.
Result<std::vector<KernelChoice>> ChooseKernels(const ir::Lowered& lowered,
                                                const PlanOptions& options, PassContext& context);

}  // namespace aicf
