#include "compiler/select/choose.h"

#include <algorithm>
#include <span>

#include "base/hash.h"
#include "base/log.h"
#include "compiler/select/precision.h"
#include "compiler/select/questions.h"

namespace aicf {
namespace {

struct Candidate {
  const abi::KernelInfo* kernel;
  std::string refusal;
  double cost_us = -1;
  LibraryAlgorithm algorithm;
  double measured_us = -1;
  double spread_us = 0;
};

bool RunsOn(const abi::KernelInfo& kernel, const abi::DeviceSpec& device) {
  return (kernel.backend == abi::Backend::kCpu) == (device.backend == abi::Backend::kCpu);
}

bool IsNamed(const abi::KernelInfo& kernel, std::string_view preferred) {
  return kernel.key.find(preferred) != std::string_view::npos;
}

// Asks for the algorithm of a library's kernel; the sentence that refuses the kernel without one.
std::string FindAlgorithm(const CompileOptions& options, const abi::KernelInfo& kernel,
                          const ir::LoweredStep& step, const abi::DeviceSpec& device,
                          std::string_view preferred, LibraryAlgorithm* algorithm) {
  if (preferred.empty() || !IsNamed(kernel, preferred)) {
    return "is used only where the policy names it: it ties the artifact to one library version";
  }
  Result<LibraryAlgorithm> found = AskForAlgorithm(options, kernel, step.problem, device);
  if (!found.ok()) return found.status().message();
  const uint64_t most = kernel.workspace_bytes(step.problem, device);
  if (found->workspace_bytes > most) {
    return StrCat("got an algorithm that needs ", found->workspace_bytes,
                  " bytes of workspace, at most ", most, " are allowed");
  }
  *algorithm = *std::move(found);
  return "";
}

// A kernel that multiplies otherwise than a wish for the step's precision asks.
std::string RefuseMath(const abi::KernelInfo& kernel, const ir::LoweredStep& step,
                       const PassContext& context, const Wish* wish) {
  if (wish == nullptr) return "";
  const std::string_view used = abi::MathModeName(UsedMath(kernel, step.problem, context.device));
  if (used == wish->decision.choice) return "";
  return StrCat("multiplies in ", used, ", ", wish->origin, " asks for ", wish->decision.choice);
}

// What the candidates cost. A library's kernel that the policy does not name has a measured time too.
void Price(const CostQuestion& question, const CompileOptions& options,
           const abi::DeviceSpec& device, std::vector<Candidate>& candidates) {
  const std::vector<KernelCost> costs = CostsOf(question, options, device);
  for (Candidate& c : candidates) {
    const auto at = std::ranges::find(question.kernels, c.kernel);
    if (at == question.kernels.end()) continue;
    const KernelCost& cost = costs[static_cast<size_t>(at - question.kernels.begin())];
    c.measured_us = cost.measured_us;
    c.spread_us = cost.spread_us;
    if (c.refusal.empty()) c.cost_us = cost.predicted_us;
  }
}

// `preferred`: what policy or wish name for the step; empty: nothing. `math`: the wish for its
// precision; nullptr: none.
std::vector<Candidate> Rate(const ir::Lowered& lowered, const ir::LoweredStep& step,
                            const CompileOptions& options, const PassContext& context,
                            std::string_view preferred, const Wish* math) {
  const abi::DeviceSpec& device = context.device;
  std::vector<Candidate> candidates;
  for (const abi::KernelInfo& kernel : abi::KernelsOf(step.problem.family)) {
    if (!RunsOn(kernel, device)) continue;
    Candidate c{&kernel, RefuseStep(kernel, lowered, step, options, device), -1, {}};
    if (c.refusal.empty()) c.refusal = RefuseMath(kernel, step, context, math);
    if (c.refusal.empty() && kernel.backend == abi::Backend::kLibrary) {
      c.refusal = FindAlgorithm(options, kernel, step, device, preferred, &c.algorithm);
    }
    candidates.push_back(std::move(c));
  }
  Price(QuestionOf(lowered, step, options, device), options, device, candidates);
  return candidates;
}

// Measured times decide where there are some: they are not compared with predictions.
bool Cheaper(const Candidate& a, const Candidate& b) {
  const bool a_measured = a.measured_us >= 0, b_measured = b.measured_us >= 0;
  if (a_measured != b_measured) return a_measured;
  return a_measured ? a.measured_us < b.measured_us : a.cost_us < b.cost_us;
}

// The fastest measured one, or the one that is predicted to be it where it is not slower by more than
// the noise: two medians that differ by less say nothing.
const Candidate* Cheapest(const std::vector<Candidate>& candidates, std::string_view preferred) {
  const Candidate *best = nullptr, *predicted = nullptr;
  for (const Candidate& c : candidates) {
    if (!c.refusal.empty() || !IsNamed(*c.kernel, preferred)) continue;
    if (best == nullptr || Cheaper(c, *best)) best = &c;
    if (c.measured_us < 0) continue;
    if (predicted == nullptr || c.cost_us < predicted->cost_us) predicted = &c;
  }
  if (predicted == nullptr) return best;
  const double noise = std::max(best->spread_us, predicted->spread_us);
  return predicted->measured_us - best->measured_us > noise ? best : predicted;
}

std::string PolicyFailure(const std::vector<Candidate>& candidates, std::string_view preferred) {
  for (const Candidate& c : candidates) {
    if (IsNamed(*c.kernel, preferred)) {
      return StrCat("policy asks for ", c.kernel->key, ", which ", c.refusal);
    }
  }
  return StrCat("policy asks for '", preferred, "', which names no kernel for this target");
}

std::string ReasonOf(const std::vector<Candidate>& candidates, const Candidate& chosen) {
  int legal = 0, equal = 0;
  bool fastest = true;
  for (const Candidate& c : candidates) {
    if (!c.refusal.empty()) continue;
    ++legal;
    fastest = fastest && (c.measured_us < 0 || c.measured_us >= chosen.measured_us);
    if (c.cost_us == chosen.cost_us) ++equal;
  }
  if (legal == 1) return "only-legal";
  if (chosen.measured_us >= 0) return fastest ? "measured" : "tie-break";
  return equal > 1 ? "tie-break" : "predicted";
}

// What a decision about a step is about; nothing decided yet.
Decision DecisionOf(const PassContext& context, size_t index, const ir::LoweredStep& step,
                    std::string_view kind) {
  Decision d;
  d.kind = kind;
  d.subject = StepSubject(index, step);
  d.pass = "choose-kernels";
  d.entry = context.entry;
  d.step = static_cast<int>(index);
  d.nodes = step.sources;
  return d;
}

void Record(PassContext& context, Decision d, const std::vector<Candidate>& candidates,
            const Candidate& chosen, std::string reason) {
  d.choice = chosen.kernel->key;
  d.reason = std::move(reason);
  d.cost_us = chosen.cost_us;
  d.measured_us = chosen.measured_us;
  for (const Candidate& c : candidates) {
    if (&c == &chosen) continue;
    d.alternatives.push_back({std::string(c.kernel->key), c.refusal, c.cost_us, c.measured_us});
  }
  context.decisions->Record(std::move(d));
}

std::string ShortHash(const std::vector<uint8_t>& bytes) {
  return ToHex(HashBytes(std::as_bytes(std::span(bytes)))).substr(0, 16);
}

void RecordAlgorithm(PassContext& context, Decision d, const Candidate& chosen) {
  const std::string_view library = chosen.kernel->key.substr(0, chosen.kernel->key.find('.'));
  d.choice =
      StrCat(library, " ", chosen.algorithm.library_version, ", algorithm ",
             ShortHash(chosen.algorithm.bytes), ", workspace ", chosen.algorithm.workspace_bytes);
  d.reason = "rule: the library's first deterministic choice for this problem";
  context.decisions->Record(std::move(d));
}

// The policy's kernel where it names one that can run the step; nullptr where there is no such
// wish. Errors: kUnsupported when the wish cannot be honoured and the policy is strict.
Result<const Candidate*> ByPolicy(const std::vector<Candidate>& candidates,
                                  std::string_view preferred, const CompileOptions& options,
                                  const std::string& subject) {
  if (preferred.empty()) return nullptr;
  const Candidate* best = Cheapest(candidates, preferred);
  if (best != nullptr) return best;
  const std::string failure = PolicyFailure(candidates, preferred);
  if (options.policy_strict) return Error(Code::kUnsupported, subject, ": ", failure);
  Log(LogLevel::kWarning, StrCat(subject, ": ", failure));
  return nullptr;
}

Status NoKernel(const std::vector<Candidate>& candidates, const std::string& subject,
                const abi::DeviceSpec& device) {
  std::string why;
  for (const Candidate& c : candidates) why += StrCat("; ", c.kernel->key, " ", c.refusal);
  return Error(Code::kUnsupported, subject, ": no kernel for ", device.name, why);
}

// The wish for a decision; nullptr: none.
const Wish* WishFor(const PassContext& context, Decision d, abi::Family family,
                    Occurrences& occurrences) {
  d.choice = abi::ReferenceKey(family);  // a kernel decision's identity holds the family
  const std::string identity = IdentityOf(d);
  const int occurrence = occurrences.Next(identity);
  return context.wishes == nullptr ? nullptr : context.wishes->Find(identity, occurrence);
}

// The kernel that a wish names. Errors: kUnsupported with the sentence that refuses it.
Result<const Candidate*> ByWish(const std::vector<Candidate>& candidates, const Wish& wish,
                                const std::string& subject) {
  for (const Candidate& c : candidates) {
    if (c.kernel->key != wish.decision.choice) continue;
    if (c.refusal.empty()) return &c;
    return Error(Code::kUnsupported, wish.origin, ": ", subject, ": ", c.kernel->key, " ",
                 c.refusal);
  }
  return Error(Code::kInvalidArgument, wish.origin, ": ", subject, ": there is no kernel ",
               wish.decision.choice, " for this target");
}

/// Chooses the kernels of a program, one step after the other.
class Chooser {
 public:
  Chooser(const ir::Lowered& lowered, const CompileOptions& options, PassContext& context)
      : lowered_(lowered), options_(options), context_(context) {}

  Result<KernelChoice> Choose(size_t index) {
    const ir::LoweredStep& step = lowered_.steps[index];
    const Decision decision = DecisionOf(context_, index, step, "kernel");
    const Decision precision = DecisionOf(context_, index, step, "precision");
    const Wish* wish = WishFor(context_, decision, step.problem.family, occurrences_);
    const Wish* math = WishFor(context_, precision, step.problem.family, occurrences_);
    if (math != nullptr) {
      AICF_RETURN_IF_ERROR(CheckPrecisionWish(step, precision, *math, context_));
    }
    const std::string_view preferred =
        wish != nullptr ? std::string_view(wish->decision.choice)
                        : options_.policy.KernelFor(step.problem.family, step.sources);
    const std::vector<Candidate> candidates =
        Rate(lowered_, step, options_, context_, preferred, math);
    std::string reason = "policy";
    const Candidate* best = nullptr;
    if (wish != nullptr) {
      AICF_ASSIGN_OR_RETURN(best, ByWish(candidates, *wish, decision.subject));
    } else {
      AICF_ASSIGN_OR_RETURN(best, ByPolicy(candidates, preferred, options_, decision.subject));
    }
    if (best == nullptr) {
      best = Cheapest(candidates, "");
      if (best == nullptr) return NoKernel(candidates, decision.subject, context_.device);
      reason = ReasonOf(candidates, *best);
    }
    Record(context_, decision, candidates, *best, reason);
    if (best->kernel->backend == abi::Backend::kLibrary) {
      RecordAlgorithm(context_, DecisionOf(context_, index, step, "algorithm"), *best);
    }
    RecordPrecision(step, precision, *best->kernel, reason, context_);
    return KernelChoice{best->kernel, best->algorithm};
  }

 private:
  const ir::Lowered& lowered_;
  const CompileOptions& options_;
  PassContext& context_;
  Occurrences occurrences_;
};

}  // namespace

std::string StepSubject(size_t index, const ir::LoweredStep& step) {
  std::string out = StrCat("step ", index, " [");
  for (size_t i = 0; i < step.sources.size(); ++i) out += (i == 0 ? "" : ", ") + step.sources[i];
  return out + "]";
}

Result<std::vector<KernelChoice>> ChooseKernels(const ir::Lowered& lowered,
                                                const CompileOptions& options,
                                                PassContext& context) {
  AICF_RETURN_IF_ERROR(PrepareCosts(lowered, options, context.device));
  Chooser chooser(lowered, options, context);
  std::vector<KernelChoice> chosen;
  for (size_t i = 0; i < lowered.steps.size(); ++i) {
    AICF_ASSIGN_OR_RETURN(KernelChoice choice, chooser.Choose(i));
    chosen.push_back(std::move(choice));
  }
  return chosen;
}

}  // namespace aicf
