#include "compiler/select/questions.h"

#include <algorithm>

#include "compiler/costs/cached_costs.h"
#include "compiler/select/choose.h"
#include "kernels/abi/packing.h"

namespace aicf {
namespace {

Offer OfferOf(const abi::KernelInfo& kernel, const ir::Lowered& lowered,
              const ir::LoweredStep& step, const PlanOptions& options,
              const abi::DeviceSpec& device, ProblemCandidates& known) {
  Offer offer{&kernel, kernel.supports(step.problem, device), {}};
  if (offer.refusal.empty() && options.deterministic && !kernel.deterministic) {
    offer.refusal = "is not deterministic";
  }
  if (!offer.refusal.empty()) return offer;
  std::string refusal = "has no parameters that are legal for the problem";
  for (const abi::Candidate& c : known.Of(kernel)) {
    refusal = RefuseOperands(kernel, c.variant.parameters, lowered, step);
    if (refusal.empty()) offer.candidates.push_back(c);
  }
  if (offer.candidates.empty()) offer.refusal = std::move(refusal);
  return offer;
}

// Refuses to pack a constant into many times its bytes. A view may repeat a constant, so that a few
// bytes of a file would be packed into as many as the view's extents say. Other kernels then read
// the constant as it is.
std::string RefuseGrowth(const ir::LoweredBuffer& constant, uint64_t packed_bytes) {
  constexpr uint64_t kSmall = uint64_t{64} << 20, kMostTimes = 8;
  const uint64_t bytes = ir::BytesOf(constant);
  if (packed_bytes <= kSmall || packed_bytes / kMostTimes <= bytes) return "";
  return StrCat("packs the ", bytes, " bytes of '", constant.name, "' into ", packed_bytes);
}

bool Names(const std::vector<ir::BufferId>& list, ir::BufferId b) {
  return std::ranges::find(list, b) != list.end();
}

bool CopiesInto(const ir::Lowered& lowered, ir::BufferId value, ir::BufferId present) {
  return std::ranges::any_of(lowered.steps, [&](const ir::LoweredStep& s) {
    return Names(s.inputs, value) && Names(s.outputs, present);
  });
}

// Whether no other step than this one reads or changes the state that is its input `i`: the output
// that may take the input's place is the state's new value, which then needs no copy at the end
// (UpdateStatesInPlace).
bool ChangesAlone(const abi::KernelInfo& kernel, const ir::Lowered& lowered,
                  const ir::LoweredStep& step, size_t i) {
  const auto state = std::ranges::find(lowered.states, step.inputs[i], &ir::LoweredState::past);
  if (state == lowered.states.end() || !step.guards.empty() || step.loop != ir::kNoLoop)
    return false;
  const auto k = static_cast<size_t>(abi::OutputInPlaceOf(step.problem, static_cast<int>(i)));
  if (step.problem.inputs[i] != step.problem.outputs[k] ||
      !kernel.in_place(step.problem, static_cast<int>(i))) {
    return false;
  }
  const ir::BufferId value = step.outputs[k];
  if (std::ranges::count(step.inputs, state->past) != 1) return false;
  if (lowered.buffers[value].role != schema::Role::kTemp) return false;
  for (const ir::LoweredState& other : lowered.states) {
    if (&other != &*state && CopiesInto(lowered, value, other.present)) return false;
  }
  for (const ir::LoweredStep& other : lowered.steps) {
    if (&other == &step) continue;
    if (Names(other.inputs, state->past) || Names(other.outputs, value)) return false;
    if (std::ranges::find(other.guards, state->past, &schema::Guard::buffer) != other.guards.end())
      return false;
    if (Names(other.outputs, state->present) && other.inputs != std::vector{value}) return false;
  }
  return true;
}

}  // namespace

// A kernel with its own weight layout needs the weights at compile time, and one that reads them
// before it waits needs them unwritten.
std::string RefuseOperands(const abi::KernelInfo& kernel, const abi::Parameters& parameters,
                           const ir::Lowered& lowered, const ir::LoweredStep& step) {
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    const ir::LoweredBuffer& buffer = lowered.buffers[step.inputs[i]];
    const auto layout = abi::LayoutOf(kernel, step.problem, parameters, i);
    if (buffer.constant.has_data()) {
      const std::string refusal = layout ? RefuseGrowth(buffer, layout->bytes) : "";
      if (!refusal.empty()) return refusal;
      continue;
    }
    const std::string operand = StrCat("operand ", i, " ('", buffer.name, "') ");
    if (layout) {
      return StrCat("packs ", operand, "at compile time, which is not constant");
    }
    if (buffer.role != schema::Role::kMeta &&
        abi::ReadsAhead(kernel, step.problem, parameters, i) &&
        !ChangesAlone(kernel, lowered, step, i)) {
      return StrCat("reads ", operand, "before it waits, which is not constant");
    }
  }
  return "";
}

std::vector<Offer> OffersOf(const ir::Lowered& lowered, const ir::LoweredStep& step,
                            const PlanOptions& options, Candidates& candidates) {
  ProblemCandidates& known = candidates.For(step.problem);
  std::vector<Offer> offers;
  for (const abi::KernelInfo& kernel : abi::KernelsOf(step.problem.family)) {
    if (!RunsOn(kernel, candidates.device())) continue;
    offers.push_back(OfferOf(kernel, lowered, step, options, candidates.device(), known));
  }
  return offers;
}

CostQuestion QuestionOf(const ir::LoweredStep& step, const std::vector<Offer>& offers) {
  CostQuestion question{"", &step.problem, {}, true};
  for (const Offer& offer : offers) {
    for (const abi::Candidate& c : offer.candidates) question.options.push_back({offer.kernel, c});
  }
  return question;
}

Status PrepareCosts(const ir::Lowered& lowered, const PlanOptions& options,
                    Candidates& candidates) {
  if (options.costs == nullptr) return OkStatus();
  std::vector<CostQuestion> questions;
  for (size_t i = 0; i < lowered.steps.size(); ++i) {
    const ir::LoweredStep& step = lowered.steps[i];
    CostQuestion question = QuestionOf(step, OffersOf(lowered, step, options, candidates));
    question.subject = StepSubject(i, step);
    question.open = options.policy.KernelFor(step.problem.family, step.sources).empty();
    questions.push_back(std::move(question));
  }
  return options.costs->Prepare(questions, candidates.device());
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
