#include "compiler/states/pair_states.h"

#include <algorithm>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "compiler/states/state_names.h"

namespace aicf {
namespace {

constexpr std::string_view kMarkStates = "mark-states";

bool SameType(const ir::LoweredBuffer& a, const ir::LoweredBuffer& b) {
  return a.dtype == b.dtype && a.shape == b.shape;
}

class Marker {
 public:
  Marker(ir::Lowered& lowered, PassContext& context) : l_(lowered), context_(context) {
    for (const schema::OutputExtent& e : l_.extents) varying_.insert(l_.outputs[e.output]);
    for (const ir::LoweredState& s : l_.states) Take(s.past, s.present);
  }

  Status Ask(const StatePair& pair) {
    const Status status = Mark(pair);
    if (status.ok()) return status;
    return status.WithContext(StrCat("--state=", pair.past, ":", pair.present));
  }

  /// Pairs whose names match, by the patterns' order.
  void Suggest(bool apply) {
    for (const NamePattern& pattern : NamePatterns()) {
      const std::unordered_map<std::string_view, Ids> presents = ByStar(pattern.present);
      for (const ir::BufferId past : l_.inputs) {
        const auto star = StarOf(pattern.past, l_.buffers[past].name);
        const auto found = star ? presents.find(*star) : presents.end();
        if (found == presents.end()) continue;
        for (const ir::BufferId present : found->second) {
          if (Fits(past, present)) Propose(pattern, past, present, apply);
        }
      }
    }
  }

 private:
  using Ids = std::vector<ir::BufferId>;

  // The outputs whose names are of the form, by what stands for its star.
  std::unordered_map<std::string_view, Ids> ByStar(std::string_view form) const {
    std::unordered_map<std::string_view, Ids> outputs;
    for (const ir::BufferId b : ModelOutputs()) {
      const auto star = StarOf(form, l_.buffers[b].name);
      if (star) outputs[*star].push_back(b);
    }
    return outputs;
  }

  std::span<const ir::BufferId> ModelOutputs() const {
    size_t count = l_.outputs.size();
    for (const schema::OutputExtent& e : l_.extents) count = std::min<size_t>(count, e.count);
    return std::span(l_.outputs).first(count);
  }

  Result<ir::BufferId> Find(std::string_view what, std::string_view name,
                            std::span<const ir::BufferId> among) const {
    std::string known;
    for (ir::BufferId b : among) {
      if (l_.buffers[b].name == name) return b;
      known += StrCat(known.empty() ? "'" : ", '", l_.buffers[b].name, "'");
    }
    return Error(Code::kInvalidArgument, "no ", what, " is named '", name, "'; the model has ",
                 known.empty() ? "none" : known);
  }

  bool IsTaken(ir::BufferId b) const { return taken_.contains(b); }
  void Take(ir::BufferId past, ir::BufferId present) { taken_.insert({past, present}); }
  bool IsFixed(ir::BufferId present) const { return !varying_.contains(present); }

  Status Mark(const StatePair& pair) {
    AICF_ASSIGN_OR_RETURN(const ir::BufferId past, Find("input", pair.past, l_.inputs));
    AICF_ASSIGN_OR_RETURN(const ir::BufferId present, Find("output", pair.present, ModelOutputs()));
    const ir::LoweredBuffer &in = l_.buffers[past], &out = l_.buffers[present];
    for (ir::BufferId b : {past, present}) {
      if (!IsTaken(b)) continue;
      return Error(Code::kInvalidArgument, "'", l_.buffers[b].name, "' is of two states");
    }
    if (!SameType(in, out)) {
      return Error(Code::kInvalidArgument, "input '", in.name, "' is ", ir::TypeText(in),
                   " and output '", out.name, "' is ", ir::TypeText(out),
                   "; a state has one dtype and one shape");
    }
    if (!IsFixed(present)) {
      return Error(Code::kInvalidArgument, "output '", out.name,
                   "' has an extent that each run decides; a state has one shape");
    }
    l_.states.push_back({past, present});
    Take(past, present);
    Record(past, present, kOneState, Reason::kPolicy, "", {std::string(kInputAndOutput), "", -1});
    return OkStatus();
  }

  bool Fits(ir::BufferId past, ir::BufferId present) const {
    return SameType(l_.buffers[past], l_.buffers[present]) && IsFixed(present) && !IsTaken(past) &&
           !IsTaken(present);
  }

  void Propose(const NamePattern& pattern, ir::BufferId past, ir::BufferId present, bool apply) {
    const std::string why =
        StrCat("equal dtype and shape, and names like ", pattern.past, " and ", pattern.present);
    Take(past, present);
    if (apply) {
      l_.states.push_back({past, present});
      Record(past, present, kOneState, Reason::kRule, why, {std::string(kInputAndOutput), "", -1});
      return;
    }
    Record(past, present, kInputAndOutput, Reason::kPolicy, "",
           {std::string(kOneState),
            StrCat("asked: ", why, " suggest it, and --state=", l_.buffers[past].name, ":",
                   l_.buffers[present].name, " or --state=auto would make it so"),
            -1});
  }

  void Record(ir::BufferId past, ir::BufferId present, std::string_view choice, Reason reason,
              std::string sentence, Alternative other) {
    Decision d =
        context_.About(DecisionKind::kState,
                       schema::Subject::Named(SubjectForm::kStatePair, l_.buffers[past].name,
                                              l_.buffers[present].name),
                       kMarkStates);
    d.choice = choice;
    d.Because(reason, std::move(sentence)).alternatives = {std::move(other)};
    context_.Record(std::move(d));
  }

  ir::Lowered& l_;
  PassContext& context_;
  std::unordered_set<ir::BufferId> varying_;  ///< outputs with an extent that each run decides
  std::unordered_set<ir::BufferId> taken_;    ///< ends of pairs that are marked or proposed
};

}  // namespace

Status MarkStates(const std::vector<StatePair>& asked, bool automatic, ir::Lowered& lowered,
                  PassContext& context) {
  Marker marker(lowered, context);
  for (const StatePair& pair : asked) AICF_RETURN_IF_ERROR(marker.Ask(pair));
  marker.Suggest(automatic);
  return OkStatus();
}

Status MarkMetas(const std::vector<std::string>& names, ir::Lowered& lowered) {
  for (const std::string& name : names) {
    const auto found = std::ranges::find_if(
        lowered.inputs, [&](ir::BufferId b) { return lowered.buffers[b].name == name; });
    if (found == lowered.inputs.end()) {
      return Error(Code::kInvalidArgument, "--meta: no input is named '", name, "'");
    }
    ir::LoweredBuffer& buffer = lowered.buffers[*found];
    if (buffer.role == schema::Role::kMeta) {
      return Error(Code::kInvalidArgument, "--meta: input '", name, "' is given twice");
    }
    const auto past = [&](const ir::LoweredState& s) { return s.past == *found; };
    if (std::ranges::any_of(lowered.states, past)) {
      return Error(Code::kInvalidArgument, "--meta: input '", name, "' is a state");
    }
    buffer.role = schema::Role::kMeta;
  }
  return OkStatus();
}

}  // namespace aicf
