#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/log.h"
#include "compiler/passes/plan/order_decisions.h"
#include "compiler/passes/plan/streams.h"
#include "kernels/abi/attention.h"
#include "kernels/abi/choice.h"
#include "schema/loop_tree.h"

namespace aicf {
namespace {

constexpr const char* kProgrammaticEdge = "programmatic";
constexpr const char* kFullEdge = "full";

class LaunchChooser {
 public:
  LaunchChooser(schema::Program& program, const schema::LoopTree& loops, PassContext& context)
      : p_(program), loops_(loops), context_(context), mean_us_(MeanCost(program, context)) {}

  Status Run() {
    Occurrences occurrences;
    int64_t newest[schema::kMaxStreams];
    std::fill_n(newest, schema::kMaxStreams, kNone);
    for (size_t s = 0; s < p_.steps.size(); ++s) {
      schema::Step& step = p_.steps[s];
      const std::string refusal = Refuse(s, newest[step.stream]);
      newest[step.stream] = static_cast<int64_t>(s);
      Decision d = OrderDecision(p_, s, DecisionKind::kLaunch, "choose-launches", context_);
      const int occurrence = occurrences.Next(IdentityOf(d));
      const Wish* wish = FindWish(context_, d, occurrence);
      const std::optional<bool> preferred =
          context_.policy == nullptr
              ? std::nullopt
              : context_.policy->ProgrammaticFor(step.problem.family, step.sources);
      AICF_RETURN_IF_ERROR(CheckPreference(preferred, refusal, schema::ToString(d.subject)));
      const bool wanted = wish != nullptr ? wish->decision.choice == kProgrammaticEdge
                                          : preferred.value_or(mean_us_ <= kShortStepUs);
      step.programmatic = refusal.empty() && wanted;
      d.choice = step.programmatic ? kProgrammaticEdge : kFullEdge;
      Explain(refusal, d);
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

  // Microseconds in which the step reads what its kernel can read before it waits: constant
  // weights, and the keys and values of an attention that appends to them. A successor that already
  // waits on the device does not slow this down, because memory is the limit.
  static double ReadingUs(const schema::Step& step, const abi::DeviceSpec& device) {
    const abi::KernelInfo& kernel = *abi::FindKernel(step.kernel);
    if (kernel.reads_ahead == nullptr) return 0;
    double bytes = 0;
    for (size_t k = 0; k < step.problem.inputs.size(); ++k) {
      const abi::View& v = step.problem.inputs[k];
      if (!kernel.reads_ahead(step.problem, k)) continue;
      bytes += NamedShare(step.problem, k) *
               static_cast<double>(abi::ElementsOf(v) * DTypeBytes(v.dtype));
    }
    return bytes / device.bytes_per_us;
  }

  // The predicted time of the step's kernel with its best parameters; -1 where there is no
  // prediction. Only this build's own predictions count, with its built-in corrections. Times from
  // a timing cache, and corrections fitted to them, do not: they are measured with operands in no
  // cache and are longer, so that nothing would be launched early (kShortStepUs).
  static double PredictedUs(const schema::Step& step, const PassContext& context) {
    double best = -1;
    for (const abi::Candidate& c :
         abi::CandidatesOf(*abi::FindKernel(step.kernel), step.problem, context.device)) {
      const double us = context.corrected_cost == nullptr
                            ? c.cost_us
                            : context.corrected_cost(c, step.problem.math, context.device);
      best = best < 0 ? us : std::min(best, us);
    }
    return best;
  }

  // The mean predicted time of the steps that have one, without the time in which they read
  // weights.
  static double MeanCost(const schema::Program& program, const PassContext& context) {
    double sum = 0;
    int known = 0;
    std::map<std::string_view, double> by_symbol;  // equal steps have equal instances
    for (const schema::Step& step : program.steps) {
      if (!IsOwnKernel(step)) continue;
      const auto [at, is_new] = by_symbol.try_emplace(step.symbol, -1);
      if (is_new) at->second = PredictedUs(step, context);
      if (at->second < 0) continue;
      sum += std::max(0.0, at->second - ReadingUs(step, context.device));
      ++known;
    }
    return known == 0 ? 0 : sum / known;
  }

  void Explain(const std::string& refusal, Decision& d) const {
    if (!refusal.empty()) {
      d.Because(Reason::kOnlyLegal);
    } else {
      const bool pays = mean_us_ <= kShortStepUs;
      d.Because(Reason::kPredicted,
                StrCat("steps take ", TimeText(mean_us_),
                       " on average beside reading weights, and launching early ",
                       pays ? "pays up to " : "costs more than it saves beyond ",
                       TimeText(kShortStepUs)));
    }
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
  const double mean_us_;
};

}  // namespace

Status ChooseLaunches(schema::Program& program, PassContext& context) {
  if (context.device.backend != abi::Backend::kCuda) return OkStatus();
  AICF_ASSIGN_OR_RETURN(const schema::LoopTree loops, schema::LoopTree::Build(program));
  return LaunchChooser(program, loops, context).Run();
}

}  // namespace aicf
