#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/log.h"
#include "compiler/passes/plan/gathering.h"
#include "compiler/passes/plan/order_decisions.h"
#include "compiler/passes/plan/streams.h"
#include "kernels/abi/attention.h"
#include "kernels/abi/choice.h"
#include "kernels/abi/packing.h"
#include "schema/loop_tree.h"

namespace aicf {
namespace {

constexpr const char* kProgrammaticEdge = "programmatic";
constexpr const char* kFullEdge = "full";

// Whether launching a step early is predicted to pay, and why.
struct Verdict {
  bool pays = false;
  std::string why;
};

class LaunchChooser {
 public:
  LaunchChooser(schema::Program& program, const schema::LoopTree& loops, PassContext& context)
      : p_(program), loops_(loops), context_(context) {}

  Status Run() {
    Occurrences occurrences;
    int64_t newest[schema::kMaxStreams];
    std::fill_n(newest, schema::kMaxStreams, kNone);
    for (size_t s = 0; s < p_.steps.size(); ++s) {
      schema::Step& step = p_.steps[s];
      const int64_t before = newest[step.stream];
      const std::string refusal = Refuse(s, before);
      newest[step.stream] = static_cast<int64_t>(s);
      Decision d = OrderDecision(p_, s, DecisionKind::kLaunch, "choose-launches", context_);
      const int occurrence = occurrences.Next(IdentityOf(d));
      const Wish* wish = FindWish(context_, d, occurrence);
      const std::optional<bool> preferred =
          context_.policy == nullptr
              ? std::nullopt
              : context_.policy->ProgrammaticFor(step.problem.family, step.sources);
      AICF_RETURN_IF_ERROR(CheckPreference(preferred, refusal, schema::ToString(d.subject)));
      Verdict verdict;
      if (refusal.empty()) verdict = Judge(step, p_.steps[static_cast<size_t>(before)]);
      const bool wanted = wish != nullptr ? wish->decision.choice == kProgrammaticEdge
                                          : preferred.value_or(verdict.pays);
      step.programmatic = refusal.empty() && wanted;
      d.choice = step.programmatic ? kProgrammaticEdge : kFullEdge;
      d.Because(refusal.empty() ? Reason::kPredicted : Reason::kOnlyLegal, verdict.why);
      const bool asked = wish != nullptr ? wish->decision.choice == d.choice
                                         : preferred == step.programmatic && refusal.empty();
      if (asked) d.Because(Reason::kPolicy);
      d.alternatives.push_back({step.programmatic ? kFullEdge : kProgrammaticEdge, refusal, -1});
      AICF_RETURN_IF_ERROR(CheckRefusals(context_.wishes, d, occurrence));
      context_.Record(std::move(d));
    }
    return OkStatus();
  }

 private:
  static constexpr int64_t kNone = -1;

  // The share of its pools that an attention can name by its table; 1 for all other operands.
  static double NamedShare(const abi::Problem& p, size_t input) {
    if (!abi::AppendsRows(p) || (input != 1 && input != 2)) return 1;
    const abi::AttentionShape s = abi::AttentionShapeOf(p);
    const auto slots = static_cast<double>(s.pool) * static_cast<double>(s.page);
    return std::min(1.0, static_cast<double>(s.batch) * static_cast<double>(s.keys) / slots);
  }

  // Microseconds in which a step that streams reads what it can read before it waits: constant
  // weights, and the keys and values of an attention that appends to them. A step that starts early
  // does this beside the one before it, and one that already waits does not slow it down, because
  // memory is the limit.
  static double ReadingUs(const schema::Step& step, const abi::DeviceSpec& device) {
    const abi::KernelInfo& kernel = *abi::FindKernel(step.kernel);
    if (!kernel.streams_ahead) return 0;
    double bytes = 0;
    for (size_t k = 0; k < step.problem.inputs.size(); ++k) {
      const abi::View& v = step.problem.inputs[k];
      if (!abi::ReadsAhead(kernel, step.problem, step.parameters, k)) continue;
      bytes += NamedShare(step.problem, k) *
               static_cast<double>(abi::ElementsOf(v) * DTypeBytes(v.dtype));
    }
    // The least that predictions of such steps take for reached, which is that of attention
    // (kernels/cuda/attention/decode_choice.cc). Nothing else is left of the products among them,
    // which are predicted to reach more.
    constexpr double kShareOfBandwidth = 0.85;
    return bytes / (kShareOfBandwidth * device.bytes_per_us);
  }

  // The predicted time of the step's kernel with its best parameters; none where there is no
  // prediction. Only this build's own predictions count, with its built-in corrections. Times from
  // a timing cache, and corrections fitted to them, do not: they are measured with operands in no
  // cache and are longer, so that little would be launched early (kShortStepUs).
  std::optional<double> PredictedUs(const schema::Step& step) const {
    std::optional<double> best;
    for (const abi::Candidate& c :
         abi::CandidatesOf(*abi::FindKernel(step.kernel), step.problem, context_.device)) {
      const double us = context_.corrected_cost == nullptr
                            ? c.cost_us
                            : context_.corrected_cost(c, step.problem.math, context_.device);
      if (us >= 0) best = std::min(best.value_or(us), us);
    }
    return best;
  }

  // The predicted time of a step without the time in which it reads what it can read before it
  // waits; none where there is no prediction.
  std::optional<double> BesideReadingUs(const schema::Step& step) {
    if (!IsOwnKernel(step)) return std::nullopt;
    const auto [at, is_new] = us_of_.try_emplace(step.symbol);  // equal steps have equal instances
    if (!is_new) return at->second;
    if (const std::optional<double> us = PredictedUs(step))
      at->second = std::max(0.0, *us - ReadingUs(step, context_.device));
    return at->second;
  }

  // REQUIRES: `before` is the step before `step` on its stream.
  Verdict Judge(const schema::Step& step, const schema::Step& before) {
    const std::optional<double> us = BesideReadingUs(step), us_before = BesideReadingUs(before);
    if (!us.has_value() || !us_before.has_value())
      return {false, "nothing predicts how long the step or the one before it takes"};
    const std::string both = StrCat("it takes ", TimeText(*us), " and the step before it ",
                                    TimeText(*us_before), " beside reading ahead; ");
    const bool gathers = Gathering(step.launch, before.launch, context_.device) > kGathering;
    if (gathers && *us > kShortGatheringStepUs)
      return {false, StrCat(both, "beyond ", TimeText(kShortGatheringStepUs),
                            " an early step whose blocks may gather on few multiprocessors loses "
                            "more than its launch")};
    if (std::max(*us, *us_before) > kShortStepUs)
      return {false, StrCat(both,
                            "an early launch costs more than it saves where one of them "
                            "takes more than ",
                            TimeText(kShortStepUs))};
    return {true, StrCat(both, "an early launch pays up to ",
                         TimeText(gathers ? kShortGatheringStepUs : kShortStepUs))};
  }

  // Reports a preference of the policy that cannot be honoured: as an error where the policy is
  // strict, else as a warning.
  Status CheckPreference(std::optional<bool> preferred, const std::string& refusal,
                         const std::string& subject) const {
    if (!preferred.value_or(false) || refusal.empty()) return OkStatus();
    const std::string failure = StrCat("the policy asks for a programmatic launch; ", refusal);
    if (context_.policy_strict) return Error(Code::kUnsupported, subject, ": ", failure);
    Log(LogLevel::kWarning, StrCat(subject, ": ", failure));
    return OkStatus();
  }

  bool Conditional(int64_t s) const {
    return !p_.steps[static_cast<size_t>(s)].guards.empty() ||
           loops_.InnermostOf(s) != schema::LoopTree::kNone;
  }

  // Why the step cannot be launched before `before`, the one before it on its stream, has finished.
  std::string Refuse(size_t s, int64_t before) const {
    if (!context_.device.programmatic)
      return StrCat("capability: ", context_.device.name, " has no programmatic launches");
    const abi::KernelInfo* kernel = abi::FindKernel(p_.steps[s].kernel);
    if (!kernel->waits_first)
      return StrCat("capability: kernel ", kernel->key, " does not wait by itself");
    if (before == kNone) return "stream: it is the first step of its stream";
    if (!p_.steps[s].waits.empty()) return "stream: it also waits for a step of another stream";
    if (Conditional(static_cast<int64_t>(s))) return "guard: it may be skipped or repeated";
    const schema::Step& previous = p_.steps[static_cast<size_t>(before)];
    const std::string name = schema::ToString(previous.sources);
    if (Conditional(before))
      return StrCat("guard: ", name, " before it may be skipped or repeated");
    if (IsOwnKernel(previous)) return "";
    return StrCat("capability: ", name,
                  " before it is a library's call, which may be several kernels");
  }

  schema::Program& p_;
  const schema::LoopTree& loops_;
  PassContext& context_;
  std::map<std::string_view, std::optional<double>> us_of_;  // by symbol
};

}  // namespace

Status ChooseLaunches(schema::Program& program, PassContext& context) {
  if (context.device.backend != abi::Backend::kCuda) return OkStatus();
  AICF_ASSIGN_OR_RETURN(const schema::LoopTree loops, schema::LoopTree::Build(program));
  return LaunchChooser(program, loops, context).Run();
}

}  // namespace aicf
