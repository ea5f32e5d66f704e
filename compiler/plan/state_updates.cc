#include "compiler/plan/state_updates.h"

#include <algorithm>

#include "compiler/plan/naming_steps.h"
#include "schema/loop_tree.h"
#include "schema/verify_cover.h"

namespace aicf {
namespace {

using schema::LoopTree;
using schema::Role;

class Updater {
 public:
  Updater(schema::Program& program, const LoopTree& loops)
      : p_(program), loops_(loops), naming_(program) {}

  // The step that copies into the state; -1 for a state of no elements, which needs none.
  int64_t FindCopy(const PlannedState& state) const {
    for (const size_t s : naming_.Of(state.present)) {
      if (Names(p_.steps[s].outputs, state.present)) return static_cast<int64_t>(s);
    }
    return -1;
  }

  // Makes the copy superfluous: all writers of its source write into the state instead. Returns an
  // empty string, or why the copy must stay.
  std::string Remove(const PlannedState& state, size_t copy) {
    const uint32_t value = p_.steps[copy].inputs[0];
    std::string refusal = CheckValue(state, copy, value);
    for (const size_t s : naming_.Of(value)) {
      if (s >= copy) break;
      for (size_t k = 0; k < p_.steps[s].outputs.size() && refusal.empty(); ++k) {
        if (p_.steps[s].outputs[k] == value) refusal = CheckWriter(state, s, k);
      }
    }
    if (refusal.empty()) naming_.Rename(value, state.present);
    return refusal;
  }

 private:
  static bool Names(const std::vector<uint32_t>& list, uint32_t buffer) {
    return std::ranges::find(list, buffer) != list.end();
  }

  // The copy has to be byte for byte, so that every view of the value is the same view of the
  // state. Returns the condition that does not hold.
  std::string CheckValue(const PlannedState& state, size_t copy, uint32_t value) const {
    const schema::Step& step = p_.steps[copy];
    const schema::Buffer &from = p_.buffers[value], &to = p_.buffers[state.present];
    if (from.role != Role::kTemp) {
      return StrCat("role: its new value is '", from.name, "', which is ",
                    RoleWithArticle(from.role));
    }
    if (step.problem.inputs[0] != step.problem.outputs[0] || from.dtype != to.dtype ||
        from.bytes != to.bytes) {
      return StrCat("view: the copy of '", from.name, "' moves elements");
    }
    return "";
  }

  // Why the step may not write output `k` over the old value, which others read; empty if it may.
  std::string CheckWriter(const PlannedState& state, size_t writer, size_t k) {
    const schema::Step& step = p_.steps[writer];
    if (!step.guards.empty())
      return StrCat("guard: ", NamesOf(writer), " makes it and may be skipped");
    if (loops_.InnermostOf(static_cast<int64_t>(writer)) != LoopTree::kNone) {
      return StrCat("loop: ", NamesOf(writer), " makes it in a loop");
    }
    const abi::View& window = step.problem.outputs[k];
    for (const size_t r : naming_.Of(state.past)) {
      if (r < writer) continue;
      const schema::Step& reader = p_.steps[r];
      for (const schema::Guard& g : reader.guards) {
        if (g.buffer == state.past)
          return StrCat("read-later: ", NamesOf(r), " asks the old value afterwards");
      }
      for (size_t i = 0; i < reader.inputs.size(); ++i) {
        if (reader.inputs[i] != state.past) continue;
        if (Apart(state.past, reader.problem.inputs[i], window)) continue;
        if (r > writer) {
          return StrCat("read-later: ", NamesOf(r), " (", reader.kernel,
                        ") needs the old value after ", NamesOf(writer), " has made the new one");
        }
        const auto changed =
            static_cast<size_t>(abi::OutputInPlaceOf(reader.problem, static_cast<int>(i)));
        if (k != changed || reader.problem.inputs[i] != window) {
          return StrCat("view: ", NamesOf(writer), " (", step.kernel,
                        ") reads other elements of it than it "
                        "writes");
        }
        if (!abi::FindKernel(step.kernel)->in_place(step.problem, static_cast<int>(i))) {
          return StrCat("capability: kernel ", step.kernel, " does not allow operand ", i,
                        " in place");
        }
      }
    }
    return "";
  }

  std::string NamesOf(size_t step) const { return schema::ToString(p_.steps[step].sources); }

  bool Apart(uint32_t state, const abi::View& a, const abi::View& b) {
    return prover_.Disjoint(*ElementCount(p_.buffers[state].shape), a, b);
  }

  schema::Program& p_;
  const LoopTree& loops_;
  NamingSteps naming_;
  schema::CoverProver prover_;
};

constexpr const char* kInPlace = "made in the state's place";

// An empty refusal says that the value is made in place.
void Record(const schema::Program& program, const PlannedState& state, const std::string& refusal,
            PassContext& context) {
  const bool in_place = refusal.empty();
  Decision d = context.About(
      DecisionKind::kState,
      schema::Subject::Named(SubjectForm::kStateUpdate, program.buffers[state.past].name,
                             program.buffers[state.present].name),
      "update-states-in-place");
  if (in_place) {
    d.choice = kInPlace;
    d.Because(Reason::kRule, "what is read of the old value is read before it is overwritten");
  } else {
    d.choice = "copied at the end";
    d.Because(Reason::kOnlyLegal).alternatives = {{kInPlace, refusal, -1}};
  }
  context.Record(std::move(d));
}

}  // namespace

Result<std::vector<bool>> UpdateStatesInPlace(const std::vector<PlannedState>& states,
                                              schema::Program& program, PassContext& context) {
  std::vector<bool> gone(program.steps.size(), false);
  AICF_ASSIGN_OR_RETURN(const LoopTree loops, LoopTree::Build(program));
  Updater updater(program, loops);
  for (const PlannedState& state : states) {
    const int64_t copy = updater.FindCopy(state);
    if (copy < 0) continue;
    const std::string refusal = updater.Remove(state, static_cast<size_t>(copy));
    gone[static_cast<size_t>(copy)] = refusal.empty();
    Record(program, state, refusal, context);
  }
  return gone;
}

}  // namespace aicf
