#include "compiler/passes/plan/streams.h"

#include <algorithm>
#include <string>
#include <vector>

#include "compiler/passes/plan/early_runs.h"
#include "compiler/passes/plan/gathering.h"
#include "compiler/passes/plan/order_decisions.h"
#include "compiler/passes/plan/side_runs.h"
#include "compiler/passes/plan/step_needs.h"

namespace aicf {
namespace {

constexpr uint32_t kChoices = 4;  // streams that a decision lists

// A step that runs early keeps the memory of its results for longer. Up to this size the arena
// hardly grows.
constexpr int64_t kMostEarlyBytes = 1 << 20;

constexpr const char* kManyParts =
    "limits: too many steps read or write parts of the same values to compare them all";

class StreamChooser {
 public:
  StreamChooser(schema::Program& program, PassContext& context) : p_(program), context_(context) {}

  Status Run() {
    edges_.resize(p_.steps.size());
    reasons_.resize(p_.steps.size());
    FindNeeds();
    if (!HasOneStream()) Place();
    AICF_RETURN_IF_ERROR(Decide());
    AddWaits();
    return OkStatus();
  }

 private:
  void FindNeeds() {
    if (SkipsOrRepeats(p_)) {
      one_stream_ = kOneStream;
    } else if (auto needs = NeedsOf(p_)) {
      needs_ = *std::move(needs);
    } else {
      one_stream_ = kManyParts;
    }
  }

  bool HasOneStream() const { return !one_stream_.empty(); }

  void Place() {
    const std::vector<double> us = StepCosts(p_, context_);
    std::vector<StepLoad> loads;
    for (size_t s = 0; s < p_.steps.size(); ++s) {
      const schema::Step& step = p_.steps[s];
      const bool known = IsOwnKernel(step) && us[s] >= 0;
      const int64_t sms = MultiprocessorsFor(step.launch, context_.device);
      loads.push_back({us[s], known ? BlocksOf(step.launch) : 0, needs_[s], known ? sms : 0,
                       OutputBytes(step) > kMostEarlyBytes,
                       static_cast<uint32_t>(step.inputs.size() + step.outputs.size() + 1)});
    }
    const SideRules rules = {context_.device.sm_count, kChoices, kForkJoinUs, kLongStepUs};
    const std::vector<SideRuns> groups = FindSideRuns(loads, rules);
    for (const SideRuns& group : groups) PlaceGroup(group);
    for (const EarlyRun& run : FindEarlyRuns(loads, groups, rules)) PlaceEarly(run);
  }

  int64_t OutputBytes(const schema::Step& step) const {
    int64_t bytes = 0;
    for (const uint32_t id : step.outputs) bytes += p_.buffers[id].bytes;
    return bytes;
  }

  void PlaceGroup(const SideRuns& group) {
    const size_t runs = group.starts.size();
    const uint32_t start = group.starts[0];
    for (size_t r = 0; r < runs; ++r) {
      const uint32_t first = group.starts[r];
      const uint32_t end = group.EndOf(r);
      for (uint32_t s = first; s < end; ++s) {
        p_.steps[s].stream = static_cast<uint32_t>(r);
        reasons_[s] = StrCat(
            runs, " runs of steps from ", schema::ToString(p_.steps[start].sources),
            " on fit on the device beside each other, which saves ", TimeText(group.saves_us));
      }
      // Nothing but the group runs at the same time as it.
      if (group.starts[0] > 0) edges_[first].push_back(group.starts[0] - 1);
      if (group.end < p_.steps.size()) edges_[group.end].push_back(end - 1);
    }
  }

  void PlaceEarly(const EarlyRun& run) {
    for (uint32_t s = run.start; s < run.end; ++s) {
      p_.steps[s].stream = run.stream;
      reasons_[s] = StrCat(
          "it needs nothing of the steps from ", schema::ToString(p_.steps[run.host].sources),
          " on and fits on the device beside them, which saves ", TimeText(run.saves_us));
    }
    if (run.host > 0) edges_[run.start].push_back(run.host - 1);
  }

  Status Decide() {
    Occurrences occurrences;
    for (size_t s = 0; s < p_.steps.size(); ++s) {
      Decision d = OrderDecision(p_, s, DecisionKind::kStream, "choose-streams", context_);
      const int occurrence = occurrences.Next(IdentityOf(d));
      const Wish* wish = FindWish(context_, d, occurrence);
      d.choice = std::to_string(p_.steps[s].stream);
      Explain(s, d);
      if (wish != nullptr && !HasOneStream()) {
        for (uint32_t k = 0; k < kChoices; ++k) {
          if (wish->decision.choice == std::to_string(k)) p_.steps[s].stream = k;
        }
        d.choice = std::to_string(p_.steps[s].stream);
        if (d.choice == wish->decision.choice) d.Because(Reason::kPolicy);
      }
      for (uint32_t k = 0; k < kChoices; ++k) {
        if (std::to_string(k) == d.choice) continue;
        d.alternatives.push_back({std::to_string(k), one_stream_, -1});
      }
      AICF_RETURN_IF_ERROR(CheckRefusals(context_.wishes, d, occurrence));
      context_.Record(std::move(d));
    }
    return OkStatus();
  }

  void Explain(size_t s, Decision& d) const {
    if (HasOneStream()) {
      d.Because(Reason::kOnlyLegal);
    } else if (!reasons_[s].empty()) {
      d.Because(Reason::kPredicted, reasons_[s]);
    } else if (s > 0 && std::ranges::find(needs_[s], s - 1) != needs_[s].end()) {
      d.Because(Reason::kRule, StrCat("it needs ", schema::ToString(p_.steps[s - 1].sources),
                                      ", right before it"));
    } else {
      d.Because(Reason::kPredicted,
                StrCat("no run of steps beside it saves more than the ", TimeText(kForkJoinUs),
                       " of a fork and a join, beside a step of at least ", TimeText(kLongStepUs)));
    }
  }

  // Adds the waits that are missing. Looks at the latest needed step first, because a wait for it
  // also covers everything before it on its stream.
  void AddWaits() {
    const size_t n = p_.steps.size();
    uint32_t streams = 1;
    for (const schema::Step& step : p_.steps) streams = std::max(streams, step.stream + 1);
    if (streams == 1) return;
    std::vector<std::vector<int64_t>> done(n, std::vector<int64_t>(streams, -1));
    std::vector<int64_t> newest(streams, -1);
    for (size_t s = 0; s < n; ++s) {
      schema::Step& step = p_.steps[s];
      const auto follow = [&](size_t earlier) {
        for (uint32_t k = 0; k < streams; ++k) done[s][k] = std::max(done[s][k], done[earlier][k]);
        int64_t& last = done[s][p_.steps[earlier].stream];
        last = std::max(last, static_cast<int64_t>(earlier));
      };
      if (newest[step.stream] >= 0) follow(static_cast<size_t>(newest[step.stream]));
      std::vector<uint32_t> needed = needs_[s];
      needed.insert(needed.end(), edges_[s].begin(), edges_[s].end());
      std::ranges::sort(needed, std::greater<>());
      for (uint32_t earlier : needed) {
        if (done[s][p_.steps[earlier].stream] >= earlier) continue;
        step.waits.push_back(earlier);
        follow(earlier);
      }
      std::ranges::sort(step.waits);
      newest[step.stream] = static_cast<int64_t>(s);
    }
  }

  schema::Program& p_;
  PassContext& context_;
  std::vector<std::vector<uint32_t>> needs_;  // by step
  std::vector<std::vector<uint32_t>> edges_;  // by step: more to wait for, around groups of runs
  std::vector<std::string> reasons_;          // by step; empty: in no group
  std::string one_stream_;  // why all steps have to be on one stream; empty: they need not
};

}  // namespace

Status ChooseStreams(schema::Program& program, PassContext& context) {
  if (context.device.backend != abi::Backend::kCuda) return OkStatus();
  return StreamChooser(program, context).Run();
}

}  // namespace aicf
