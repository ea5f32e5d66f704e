#include "compiler/select/questions.h"

#include "compiler/costs/cached_costs.h"
#include "compiler/select/choose.h"
#include "kernels/abi/packing.h"

namespace aicf {

// A kernel with its own weight layout needs the weights at compile time, and one that reads them
// before it waits needs them unwritten.
std::string RefuseOperands(const abi::KernelInfo& kernel, const abi::Parameters& parameters,
                           const ir::Lowered& lowered, const ir::LoweredStep& step) {
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    const ir::LoweredBuffer& buffer = lowered.buffers[step.inputs[i]];
    if (buffer.constant.has_data()) continue;
    const std::string operand = StrCat("operand ", i, " ('", buffer.name, "') ");
    if (abi::LayoutOf(kernel, step.problem, parameters, i)) {
      return StrCat("packs ", operand, "at compile time, which is not constant");
    }
    if (abi::ReadsAhead(kernel, parameters, i)) {
      return StrCat("reads ", operand, "before it waits, which is not constant");
    }
  }
  return "";
}

std::string RefuseStep(const abi::KernelInfo& kernel, const ir::Lowered& lowered,
                       const ir::LoweredStep& step, const PlanOptions& options,
                       const abi::DeviceSpec& device) {
  std::string refusal = kernel.supports(step.problem, device);
  if (!refusal.empty()) return refusal;
  if (options.deterministic && !kernel.deterministic) return "is not deterministic";
  const std::vector<abi::Candidate> all = abi::CandidatesOf(kernel, step.problem, device);
  if (all.empty()) return "has no parameters that are legal for the problem";
  for (const abi::Candidate& c : all) {
    refusal = RefuseOperands(kernel, c.variant.parameters, lowered, step);
    if (refusal.empty()) break;
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
      const abi::Parameters& parameters = candidate.variant.parameters;
      if (!RefuseOperands(kernel, parameters, lowered, step).empty()) continue;
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
