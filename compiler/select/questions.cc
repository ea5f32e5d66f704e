#include "compiler/select/questions.h"

#include "compiler/costs/cached_costs.h"
#include "compiler/select/choose.h"
#include "kernels/abi/packing.h"

namespace aicf {
namespace {

// A kernel with its own weight layout needs the weights at compile time.
std::string RefusePacking(const abi::KernelInfo& kernel, const ir::Lowered& lowered,
                          const ir::LoweredStep& step) {
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    if (abi::PackedBytes(kernel, step.problem, i) == 0) continue;
    const ir::LoweredBuffer& buffer = lowered.buffers[step.inputs[i]];
    if (!buffer.constant.has_data()) {
      return StrCat("packs operand ", i, " ('", buffer.name,
                    "') at compile time, which is not constant");
    }
  }
  return "";
}

}  // namespace

std::string RefuseStep(const abi::KernelInfo& kernel, const ir::Lowered& lowered,
                       const ir::LoweredStep& step, const PlanOptions& options,
                       const abi::DeviceSpec& device) {
  std::string refusal = kernel.supports(step.problem, device);
  if (refusal.empty()) refusal = RefusePacking(kernel, lowered, step);
  if (refusal.empty() && options.deterministic && !kernel.deterministic) {
    refusal = "is not deterministic";
  }
  if (refusal.empty() && abi::CandidatesOf(kernel, step.problem, device).empty()) {
    refusal = "has no parameters that are legal for the problem";
  }
  return refusal;
}

CostQuestion QuestionOf(const ir::Lowered& lowered, const ir::LoweredStep& step,
                        const PlanOptions& options, const abi::DeviceSpec& device) {
  CostQuestion question{"", &step.problem, {}, true};
  for (const abi::KernelInfo& kernel : abi::KernelsOf(step.problem.family)) {
    if (!RunsOn(kernel, device)) continue;
    if (!RefuseStep(kernel, lowered, step, options, device).empty()) continue;
    for (abi::Candidate& candidate : abi::CandidatesOf(kernel, step.problem, device)) {
      question.options.push_back({&kernel, std::move(candidate)});
    }
  }
  return question;
}

Status PrepareCosts(const ir::Lowered& lowered, const PlanOptions& options,
                    const abi::DeviceSpec& device) {
  if (options.costs == nullptr) return OkStatus();
  std::vector<CostQuestion> questions;
  for (size_t i = 0; i < lowered.steps.size(); ++i) {
    const ir::LoweredStep& step = lowered.steps[i];
    CostQuestion question = QuestionOf(lowered, step, options, device);
    question.subject = StepSubject(i, step);
    question.open = options.policy.KernelFor(step.problem.family, step.sources).empty();
    questions.push_back(std::move(question));
  }
  return options.costs->Prepare(questions, device);
}

Result<LibraryAlgorithm> AskForAlgorithm(const PlanOptions& options, const abi::KernelInfo& kernel,
                                         const abi::Problem& problem,
                                         const abi::DeviceSpec& device) {
  if (options.costs != nullptr) {
    if (auto known = options.costs->AlgorithmOf(problem, kernel, device)) return *std::move(known);
  }
  if (options.library_algorithms == nullptr) {
    return Status(
        Code::kUnsupported,
        "has no algorithm for this problem; compile on a machine with the library and the "
        "target's GPU, or with a timing cache from one");
  }
  Result<LibraryAlgorithm> found = options.library_algorithms->For(problem);
  if (found.ok()) return found;
  return Error(Code::kUnsupported, "has no algorithm for this problem: ", found.status().message());
}

std::vector<KernelCost> CostsOf(const CostQuestion& question, const PlanOptions& options,
                                const abi::DeviceSpec& device) {
  return options.costs != nullptr ? options.costs->CostsOf(question, device)
                                  : tune::PredictedCosts(question, device);
}

}  // namespace aicf
