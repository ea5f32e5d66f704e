#include "compiler/select/choose.h"

#include <algorithm>
#include <span>

#include "base/hash.h"
#include "base/log.h"
#include "compiler/select/precision.h"
#include "compiler/select/questions.h"
#include "kernels/abi/packing.h"

namespace aicf {
namespace {

/// One candidate of a kernel with what it costs.
struct Option {
  abi::Candidate candidate;
  double cost_us = -1;
  double measured_us = -1;
  double spread_us = 0;
};

/// A kernel with the sentence that refuses it, or its options.
struct Rated {
  const abi::KernelInfo* kernel = nullptr;
  std::string refusal;
  LibraryAlgorithm algorithm;
  std::vector<Option> options;
  std::string_view rule = "capability";  // with which the refusal begins where it is recorded
};

/// One option of one kernel; both pointers are into a list of Rated.
struct Pick {
  const Rated* rated = nullptr;
  const Option* option = nullptr;
};

// A policy names a kernel, or some of its candidates by their row.
bool IsNamed(const Rated& rated, const Option& option, std::string_view preferred) {
  return KernelHasName(*rated.kernel, preferred) ||
         option.candidate.row.find(preferred) != std::string::npos;
}

// Asks for the algorithm of a library's kernel; the sentence that refuses the kernel without one.
std::string FindAlgorithm(const PlanOptions& options, const abi::KernelInfo& kernel,
                          const ir::LoweredStep& step, const abi::DeviceSpec& device,
                          std::string_view preferred, LibraryAlgorithm* algorithm) {
  if (preferred.empty() || !KernelHasName(kernel, preferred)) {
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

// Refuses a kernel that multiplies in another math mode than a wish for the step's precision asks
// for. Empty: it does not.
std::string RefuseMath(const abi::KernelInfo& kernel, const ir::LoweredStep& step,
                       const PassContext& context, const Wish* wish) {
  if (wish == nullptr) return "";
  const std::string_view used = abi::MathModeName(UsedMath(kernel, step.problem, context.device));
  if (used == wish->decision.choice) return "";
  return StrCat("multiplies in ", used, ", ", wish->origin, " asks for ", wish->decision.choice);
}

// Fills in the options of all kernels that the question is about, with their costs. A kernel that
// was offered but that Rate refuses, such as a library's kernel that the policy does not name, gets
// its measured times, but no predicted ones.
void Price(const CostQuestion& question, const PlanOptions& options, const abi::DeviceSpec& device,
           std::vector<Rated>& rated) {
  const std::vector<KernelCost> costs = CostsOf(question, options, device);
  for (size_t q = 0; q < question.options.size(); ++q) {
    const KernelOption& asked = question.options[q];
    Rated& r = *std::ranges::find(rated, asked.kernel, &Rated::kernel);
    r.options.push_back({asked.candidate, r.refusal.empty() ? costs[q].predicted_us : -1,
                         costs[q].measured_us, costs[q].spread_us});
  }
}

// `preferred`: what policy or wish name for the step; empty: nothing. `math`: the wish for its
// precision; nullptr: none.
std::vector<Rated> Rate(const ir::LoweredStep& step, const std::vector<Offer>& offers,
                        const PlanOptions& options, const PassContext& context,
                        std::string_view preferred, const Wish* math) {
  const abi::DeviceSpec& device = context.device;
  std::vector<Rated> rated;
  for (const Offer& offer : offers) {
    const abi::KernelInfo& kernel = *offer.kernel;
    Rated r;
    r.kernel = &kernel;
    r.refusal = offer.refusal;
    if (r.refusal.empty()) {
      r.refusal = RefuseMath(kernel, step, context, math);
      r.rule = r.refusal.empty() ? "capability" : "precision";
    }
    if (r.refusal.empty() && kernel.backend == abi::Backend::kLibrary) {
      r.refusal = FindAlgorithm(options, kernel, step, device, preferred, &r.algorithm);
      const bool named = !preferred.empty() && KernelHasName(kernel, preferred);
      r.rule = named ? "capability" : "policy";
    }
    rated.push_back(std::move(r));
  }
  Price(QuestionOf(step, offers), options, device, rated);
  return rated;
}

// Whether option `a` is cheaper. One with a measured time precedes one without, since measured
// times are never compared with predictions.
bool Cheaper(const Option& a, const Option& b) {
  const bool a_measured = a.measured_us >= 0, b_measured = b.measured_us >= 0;
  if (a_measured != b_measured) return a_measured;
  return a_measured ? a.measured_us < b.measured_us : a.cost_us < b.cost_us;
}

// The best of the options that `is_wanted`. If some are measured, it is the fastest of these; but
// the one of them with the lowest prediction is taken instead if it is slower by no more than the
// noise, because two medians that differ by less say nothing. If none is measured, it is the one
// with the lowest prediction. An empty Pick where no option `is_wanted`.
template <class Wanted>
Pick Cheapest(const std::vector<Rated>& rated, const Wanted& is_wanted) {
  Pick best, predicted;
  for (const Rated& r : rated) {
    if (!r.refusal.empty()) continue;
    for (const Option& o : r.options) {
      if (!is_wanted(r, o)) continue;
      if (best.option == nullptr || Cheaper(o, *best.option)) best = {&r, &o};
      if (o.measured_us < 0) continue;
      if (predicted.option == nullptr || o.cost_us < predicted.option->cost_us)
        predicted = {&r, &o};
    }
  }
  if (predicted.option == nullptr) return best;
  const double noise = std::max(best.option->spread_us, predicted.option->spread_us);
  return predicted.option->measured_us - best.option->measured_us > noise ? best : predicted;
}

// The best option of one kernel.
Pick CheapestOf(const std::vector<Rated>& rated, const Rated& only) {
  return Cheapest(rated, [&](const Rated& r, const Option&) { return &r == &only; });
}

std::string PolicyFailure(const std::vector<Rated>& rated, abi::Family family,
                          std::string_view preferred) {
  const std::string_view missing = MissingKernel(family, preferred);
  if (!missing.empty()) return StrCat("policy asks for ", preferred, ", ", missing);
  for (const Rated& r : rated) {
    if (KernelHasName(*r.kernel, preferred)) {
      return StrCat("policy asks for ", r.kernel->key, ", which ", r.refusal);
    }
  }
  return StrCat("policy asks for '", preferred, "', which names no kernel for this target");
}

// Why `chosen` was taken among the options of all kernels or, where `only` is given, of that one.
Reason ReasonOf(const std::vector<Rated>& rated, const Option& chosen, const Rated* only) {
  int legal = 0, equal = 0;
  bool fastest = true;
  for (const Rated& r : rated) {
    if (!r.refusal.empty() || (only != nullptr && &r != only)) continue;
    for (const Option& o : r.options) {
      ++legal;
      fastest = fastest && (o.measured_us < 0 || o.measured_us >= chosen.measured_us);
      if (o.cost_us == chosen.cost_us) ++equal;
    }
  }
  if (legal == 1) return Reason::kOnlyLegal;
  if (chosen.measured_us >= 0) return fastest ? Reason::kMeasured : Reason::kTieBreak;
  return equal > 1 ? Reason::kTieBreak : Reason::kPredicted;
}

// A decision of this kind about the step, in which nothing is decided yet.
Decision DecisionOf(const PassContext& context, size_t index, const ir::LoweredStep& step,
                    DecisionKind kind) {
  return context.About(kind, schema::Subject::Step(static_cast<int>(index), step.sources),
                       "choose-kernels");
}

// "capability: needs AVX-512, which the device does not have".
std::string NamedRefusal(const Rated& rated) {
  return rated.refusal.empty() ? "" : StrCat(rated.rule, ": ", rated.refusal);
}

// Records the choice of the kernel, with every other kernel at its best option as an alternative.
// `unmet`: why the policy's preference was not honoured, or empty.
void RecordKernel(PassContext& context, Decision d, const std::vector<Rated>& rated,
                  const Pick& chosen, Reason reason, std::string unmet) {
  d.choice = chosen.rated->kernel->key;
  d.Because(reason, std::move(unmet));
  d.cost_us = chosen.option->cost_us;
  d.measured_us = chosen.option->measured_us;
  for (const Rated& r : rated) {
    if (&r == chosen.rated) continue;
    const Option* best = CheapestOf(rated, r).option;
    if (best == nullptr && !r.options.empty()) best = &r.options.front();
    d.alternatives.push_back({std::string(r.kernel->key), NamedRefusal(r),
                              best == nullptr ? -1 : best->cost_us,
                              best == nullptr ? -1 : best->measured_us});
  }
  context.Record(std::move(d));
}

// Records the choice of the parameters, with the chosen kernel's other parameter sets as
// alternatives.
void RecordParameters(PassContext& context, Decision d, const Rated& rated, const Option& chosen,
                      Reason reason) {
  if (rated.kernel->parameters.empty()) return;
  d.choice = ToString(chosen.candidate.variant.parameters);
  d.Because(reason);
  d.cost_us = chosen.cost_us;
  d.measured_us = chosen.measured_us;
  for (const Option& o : rated.options) {
    std::string text = ToString(o.candidate.variant.parameters);
    if (text == d.choice) continue;
    d.alternatives.push_back({std::move(text), "", o.cost_us, o.measured_us});
  }
  context.Record(std::move(d));
}

std::string ShortHash(const std::vector<uint8_t>& bytes) {
  return ToHex(HashBytes(std::as_bytes(std::span(bytes)))).substr(0, 16);
}

void RecordAlgorithm(PassContext& context, Decision d, const Rated& chosen) {
  const std::string_view library = chosen.kernel->key.substr(0, chosen.kernel->key.find('.'));
  d.choice =
      StrCat(library, " ", chosen.algorithm.library_version, ", algorithm ",
             ShortHash(chosen.algorithm.bytes), ", workspace ", chosen.algorithm.workspace_bytes);
  d.Because(Reason::kRule, "the library's first deterministic choice for this problem");
  context.Record(std::move(d));
}

// The best of the options that the policy names (`preferred`) and that can run the step. An empty
// Pick where the policy names nothing, or where it cannot be honoured: `unmet` then says why.
// Errors: kUnsupported when it cannot be honoured and the policy is strict.
Result<Pick> ByPolicy(const std::vector<Rated>& rated, abi::Family family,
                      std::string_view preferred, const PlanOptions& options,
                      const std::string& subject, std::string* unmet) {
  if (preferred.empty()) return Pick{};
  const Pick best =
      Cheapest(rated, [&](const Rated& r, const Option& o) { return IsNamed(r, o, preferred); });
  if (best.option != nullptr) return best;
  *unmet = PolicyFailure(rated, family, preferred);
  if (options.policy_strict) return Error(Code::kUnsupported, subject, ": ", *unmet);
  Log(LogLevel::kWarning, StrCat(subject, ": ", *unmet));
  return Pick{};
}

Status NoKernel(const std::vector<Rated>& rated, const std::string& subject,
                const abi::DeviceSpec& device) {
  std::string why;
  for (const Rated& r : rated) why += StrCat("; ", r.kernel->key, " ", r.refusal);
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

// The best option of the kernel that a wish names. Errors: kUnsupported with the sentence that
// refuses it.
Result<Pick> ByWish(const std::vector<Rated>& rated, const Wish& wish, const std::string& subject) {
  for (const Rated& r : rated) {
    if (r.kernel->key != wish.decision.choice) continue;
    if (r.refusal.empty()) return CheapestOf(rated, r);
    return Error(Code::kUnsupported, wish.origin, ": ", subject, ": ", r.kernel->key, ": ",
                 NamedRefusal(r));
  }
  return Error(Code::kInvalidArgument, wish.origin, ": ", subject, ": there is no kernel ",
               wish.decision.choice, " for this target");
}

// The option with the parameters that a wish asks for, which may be any legal ones. If the kernel's
// options lack it, it is added to them. Errors: kUnsupported with the sentence that refuses the
// parameters.
Result<Pick> WithParameters(Rated& rated, const ir::Lowered& lowered, const ir::LoweredStep& step,
                            const Wish& wish, const std::string& subject,
                            const abi::DeviceSpec& device) {
  const abi::KernelInfo& kernel = *rated.kernel;
  const Result<abi::Parameters> wanted = abi::ParseParameters(wish.decision.choice);
  if (!wanted.ok()) {
    return Error(Code::kInvalidArgument, wish.origin, ": ", wanted.status().message());
  }
  for (const Option& o : rated.options) {
    if (o.candidate.variant.parameters == *wanted) return Pick{&rated, &o};
  }
  std::string refusal = abi::CheckParameters(*wanted, kernel.parameters);
  if (refusal.empty() && kernel.refuse != nullptr) {
    refusal = kernel.refuse(step.problem, *wanted, device);
  }
  if (refusal.empty()) refusal = RefuseOperands(kernel, *wanted, lowered, step);
  if (!refusal.empty()) {
    return Error(Code::kUnsupported, wish.origin, ": ", subject, ": ", kernel.key, " ", refusal);
  }
  Option added;
  added.candidate.variant = kernel.variant(step.problem, *wanted);
  rated.options.push_back(std::move(added));
  return Pick{&rated, &rated.options.back()};
}

// Steps up to this time read weights ahead of their wait. On an H200 a product of 3 to 10 us gained
// 0.3 to 1 us where its launch was programmatic and lost up to 0.5 us where it was not. Longer
// steps are rarely launched programmatically, and what they read ahead delays the step before them.
// Convolutions that read ahead make a replay of ResNet-50 at batch 1 6 % shorter. Kernels that do
// little else than read what they may read ahead (KernelInfo::streams_ahead) have no such limit:
// memory is what they and the step before them wait for, and it should never rest.
constexpr double kMostAheadUs = 12;

bool ReadsWeightsAhead(const abi::KernelInfo& kernel, const ir::Lowered& lowered,
                       const ir::LoweredStep& step) {
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    const bool constant = lowered.buffers[step.inputs[i]].constant.has_data();
    if (constant && kernel.reads_ahead(step.problem, i)) return true;
  }
  return false;
}

// The chosen option with reading ahead: its kernel reads what no step writes before it waits for
// the kernel before it. `chosen` itself where the kernel cannot do that, or where it would read
// weights ahead in a step that takes longer than kMostAheadUs. Neither measured nor predicted times
// tell the two forms apart, so that this is decided for the chosen option alone.
Pick ReadingAhead(Rated& rated, const Option& chosen, const ir::Lowered& lowered,
                  const ir::LoweredStep& step, const abi::DeviceSpec& device) {
  const abi::KernelInfo& kernel = *rated.kernel;
  const abi::Parameters parameters = abi::WithAhead(kernel, chosen.candidate.variant.parameters);
  const double us = chosen.measured_us >= 0 ? chosen.measured_us : chosen.cost_us;
  if (kernel.reads_ahead == nullptr ||
      (us > kMostAheadUs && !kernel.streams_ahead && ReadsWeightsAhead(kernel, lowered, step)) ||
      !kernel.refuse(step.problem, parameters, device).empty() ||
      !RefuseOperands(kernel, parameters, lowered, step).empty()) {
    return {&rated, &chosen};
  }
  Option ahead = chosen;
  ahead.candidate.variant = kernel.variant(step.problem, parameters);
  rated.options.push_back(std::move(ahead));
  return {&rated, &rated.options.back()};
}

/// Chooses the kernels of a program, one step after the other.
class Chooser {
 public:
  Chooser(const ir::Lowered& lowered, const PlanOptions& options, Candidates& candidates,
          PassContext& context)
      : lowered_(lowered), options_(options), candidates_(candidates), context_(context) {}

  Result<KernelChoice> Choose(size_t index) {
    const ir::LoweredStep& step = lowered_.steps[index];
    const Decision decision = DecisionOf(context_, index, step, DecisionKind::kKernel);
    const Decision precision = DecisionOf(context_, index, step, DecisionKind::kPrecision);
    const Wish* wish = WishFor(context_, decision, step.problem.family, occurrences_);
    const Wish* math = WishFor(context_, precision, step.problem.family, occurrences_);
    if (math != nullptr) {
      AICF_RETURN_IF_ERROR(CheckPrecisionWish(step, precision, *math, candidates_));
    }
    const std::string_view preferred =
        wish != nullptr ? std::string_view(wish->decision.choice)
                        : options_.policy.KernelFor(step.problem.family, step.sources);
    std::vector<Rated> rated = Rate(step, OffersOf(lowered_, step, options_, candidates_), options_,
                                    context_, preferred, math);
    const std::string subject = ToString(decision.subject);
    Reason reason = Reason::kPolicy;
    std::string unmet;
    Pick best;
    if (wish != nullptr) {
      AICF_ASSIGN_OR_RETURN(best, ByWish(rated, *wish, subject));
    } else {
      AICF_ASSIGN_OR_RETURN(
          best, ByPolicy(rated, step.problem.family, preferred, options_, subject, &unmet));
    }
    if (best.option == nullptr) {
      best = Cheapest(rated, [](const Rated&, const Option&) { return true; });
      if (best.option == nullptr) return NoKernel(rated, subject, context_.device);
      reason = ReasonOf(rated, *best.option, nullptr);
    }
    RecordKernel(context_, decision, rated, best, reason, std::move(unmet));
    AICF_RETURN_IF_ERROR(ChooseParameters(step, index, rated, best));
    const abi::KernelInfo& kernel = *best.rated->kernel;
    if (kernel.backend == abi::Backend::kLibrary) {
      RecordAlgorithm(context_, DecisionOf(context_, index, step, DecisionKind::kAlgorithm),
                      *best.rated);
    }
    RecordPrecision(step, precision, kernel, reason, candidates_, context_);
    return KernelChoice{&kernel, best.option->candidate.variant, best.rated->algorithm};
  }

 private:
  // Chooses the parameters of the chosen kernel: those that a wish asks for, else those with which
  // the kernel was the best, reading ahead where that is possible.
  Status ChooseParameters(const ir::LoweredStep& step, size_t index, std::vector<Rated>& rated,
                          Pick& best) {
    if (best.rated->kernel->parameters.empty()) return OkStatus();
    const Decision decision = DecisionOf(context_, index, step, DecisionKind::kParameters);
    const Wish* wish = WishFor(context_, decision, step.problem.family, occurrences_);
    Reason reason = ReasonOf(rated, *best.option, best.rated);
    Rated& own = rated[static_cast<size_t>(best.rated - rated.data())];
    best = ReadingAhead(own, *best.option, lowered_, step, context_.device);
    if (wish != nullptr) {
      AICF_ASSIGN_OR_RETURN(best, WithParameters(own, lowered_, step, *wish,
                                                 ToString(decision.subject), context_.device));
      reason = Reason::kPolicy;
    }
    RecordParameters(context_, decision, *best.rated, *best.option, reason);
    return OkStatus();
  }

  const ir::Lowered& lowered_;
  const PlanOptions& options_;
  Candidates& candidates_;
  PassContext& context_;
  Occurrences occurrences_;
};

}  // namespace

std::string StepSubject(size_t index, const ir::LoweredStep& step) {
  return ToString(schema::Subject::Step(static_cast<int>(index), step.sources));
}

Result<std::vector<KernelChoice>> ChooseKernels(const ir::Lowered& lowered,
                                                const PlanOptions& options, PassContext& context) {
  Candidates candidates(context.device);
  AICF_RETURN_IF_ERROR(PrepareCosts(lowered, options, candidates));
  Chooser chooser(lowered, options, candidates, context);
  std::vector<KernelChoice> chosen;
  for (size_t i = 0; i < lowered.steps.size(); ++i) {
    AICF_ASSIGN_OR_RETURN(KernelChoice choice, chooser.Choose(i));
    chosen.push_back(std::move(choice));
  }
  return chosen;
}

}  // namespace aicf
