#include "compiler/plan/loop_states.h"

#include <algorithm>
#include <map>

#include "compiler/plan/naming_steps.h"
#include "schema/loop_tree.h"

namespace aicf {
namespace {

constexpr std::string_view kChangeStatesInPlace = "change-states-in-place";

using schema::LoopTree;
using schema::Role;

class Rewriter {
 public:
  Rewriter(schema::Program& program, const LoopTree& loops)
      : p_(program),
        loops_(loops),
        naming_(program),
        writers_(program.buffers.size()),
        tested_(program.buffers.size()) {
    for (const schema::EntryPoint& e : p_.entry_points) {
      for (const schema::Loop& l : e.loops) tested_[l.condition].push_back(l.first_step);
    }
    for (size_t s = 0; s < p_.steps.size(); ++s) {
      for (uint32_t b : p_.steps[s].outputs) writers_[b].push_back(s);
    }
  }

  // Whether the step copies a whole buffer into a state during a trip, and not in front of the
  // loop.
  bool IsUpdate(size_t s) const {
    const schema::Step& step = p_.steps[s];
    const abi::Problem& p = step.problem;
    if (p.family != abi::Family::kCopy || step.inputs.size() != 1) return false;
    if (!p.epilogue.empty()) return false;
    return !p.as<abi::CopyAttrs>().has_fill && IsState(step.outputs[0]) &&
           writers_[step.outputs[0]].front() != s;
  }

  // Makes the copy superfluous: its source's only writer writes into the state instead. Returns an
  // empty string, or why the copy must stay.
  std::string Remove(size_t copy) {
    const uint32_t from = p_.steps[copy].inputs[0], state = p_.steps[copy].outputs[0];
    std::string refusal = CheckCopy(copy);
    if (refusal.empty()) refusal = CheckMaker(copy, from, state);
    if (refusal.empty()) refusal = CheckBetween(writers_[from][0], copy, state);
    if (!refusal.empty()) return refusal;
    naming_.Rename(from, state);
    writers_[state].erase(std::ranges::find(writers_[state], copy));
    writers_[state].push_back(writers_[from][0]);
    std::ranges::sort(writers_[state]);
    writers_[from].clear();
    return "";
  }

 private:
  bool IsState(uint32_t b) const { return p_.buffers[b].role == Role::kCarried; }
  int LoopOf(size_t step) const { return loops_.InnermostOf(static_cast<int64_t>(step)); }

  // The copy has to be made in every trip and byte for byte, so that every view of the one buffer
  // is the same view of the other. Returns the condition that does not hold.
  std::string CheckCopy(size_t copy) const {
    const schema::Step& step = p_.steps[copy];
    const abi::View &in = step.problem.inputs[0], &out = step.problem.outputs[0];
    const uint64_t bytes = p_.buffers[step.outputs[0]].bytes;
    if (!step.guards.empty()) return "guard: the copy is skipped in some trips";
    if (writers_[step.outputs[0]].size() != 2) return "outputs: several steps change it";
    if (in != out || out.strides != abi::DenseView(out.dtype, out.shape).strides ||
        static_cast<uint64_t>(abi::ElementsOf(out) * DTypeBytes(out.dtype)) != bytes ||
        p_.buffers[step.inputs[0]].bytes != bytes ||
        p_.buffers[step.inputs[0]].dtype != p_.buffers[step.outputs[0]].dtype) {
      return "view: the copy moves elements";
    }
    return "";
  }

  std::string CheckMaker(size_t copy, uint32_t from, uint32_t state) const {
    const std::string name = p_.buffers[from].name;
    if (p_.buffers[from].role != Role::kTemp) {
      return StrCat("role: '", name, "' is ", RoleWithArticle(p_.buffers[from].role));
    }
    if (writers_[from].size() != 1)
      return StrCat("outputs: '", name, "' is written by several steps");
    const size_t maker = writers_[from][0];
    const schema::Step& step = p_.steps[maker];
    if (LoopOf(maker) != LoopOf(copy)) return "loop: the value is not made in the same loop";
    if (!step.guards.empty()) return "guard: the value is not made in every trip";
    if (step.outputs.size() != 1) return "outputs: its step has several results";
    const abi::KernelInfo* kernel = abi::FindKernel(step.kernel);
    for (size_t k = 0; k < step.inputs.size(); ++k) {
      if (step.inputs[k] != state) continue;
      if (step.problem.inputs[k] != step.problem.outputs[0])
        return "view: it is viewed differently";
      if (!kernel->in_place(step.problem, static_cast<int>(k))) {
        return StrCat("capability: kernel ", step.kernel, " does not allow operand ", k,
                      " in place");
      }
    }
    return "";
  }

  std::string CheckBetween(size_t maker, size_t copy, uint32_t state) const {
    for (const size_t s : naming_.Of(state)) {
      if (s > maker && s < copy) {
        return StrCat("read-later: ", schema::ToString(p_.steps[s].sources),
                      " needs the old value");
      }
    }
    const bool tested = std::ranges::any_of(
        tested_[state], [&](size_t first) { return first > maker && first <= copy; });
    if (tested) return "loop: a loop in between tests the old value";
    return "";
  }

  schema::Program& p_;
  const LoopTree& loops_;
  NamingSteps naming_;
  std::vector<std::vector<size_t>> writers_;  // steps, ascending, by buffer
  std::vector<std::vector<size_t>> tested_;   // first steps of the loops that test it, by buffer
};

}  // namespace

Result<std::vector<bool>> ChangeStatesInPlace(schema::Program& program, PassContext& context) {
  std::vector<bool> gone(program.steps.size(), false);
  AICF_ASSIGN_OR_RETURN(const LoopTree loops, LoopTree::Build(program));
  if (loops.size() == 0) return gone;
  Rewriter rewriter(program, loops);
  for (size_t s = 0; s < program.steps.size(); ++s) {
    if (!rewriter.IsUpdate(s)) continue;
    const std::string state = program.buffers[program.steps[s].outputs[0]].name;
    const std::string refusal = rewriter.Remove(s);
    gone[s] = refusal.empty();
    Decision d =
        context.About(DecisionKind::kInPlace,
                      schema::Subject::Named(SubjectForm::kLoopState, state), kChangeStatesInPlace);
    if (gone[s]) {
      d.choice = "changed by the step that makes its next value";
      d.Because(Reason::kRule, "nothing needs the old value any more");
    } else {
      d.choice = "copied at the trip's end";
      d.Because(Reason::kOnlyLegal).alternatives = {{"changed in place", refusal, -1}};
    }
    context.Record(std::move(d));
  }
  return gone;
}

void RemoveSteps(schema::Program& program, const std::vector<bool>& gone) {
  std::vector<uint32_t> moved(gone.size() + 1, 0);  // steps that stay before each
  for (size_t s = 0; s < gone.size(); ++s) moved[s + 1] = moved[s] + (gone[s] ? 0 : 1);
  const auto move = [&](uint32_t& first, uint32_t& count) {
    const uint32_t end = moved[first + count];
    first = moved[first];
    count = end - first;
  };
  for (schema::EntryPoint& entry : program.entry_points) {
    move(entry.first_step, entry.step_count);
    for (schema::Loop& l : entry.loops) move(l.first_step, l.step_count);
  }
  size_t s = 0;
  std::erase_if(program.steps, [&](const schema::Step&) { return gone[s++]; });
}

namespace {

using Edge = std::pair<size_t, size_t>;

// All edges between steps: from producer to consumer, with the name of the buffer between them, and
// from each step to the next, with an empty name where no buffer lies between them.
std::map<Edge, std::string> EdgesOf(const schema::Program& program) {
  std::map<Edge, std::string> edges;
  std::vector<std::vector<size_t>> writers(program.buffers.size());
  for (size_t s = 0; s < program.steps.size(); ++s) {
    for (uint32_t b : program.steps[s].inputs) {
      for (size_t w : writers[b]) edges[{w, s}] = program.buffers[b].name;
    }
    if (s > 0) edges.try_emplace({s - 1, s});
    for (uint32_t b : program.steps[s].outputs) writers[b].push_back(s);
  }
  return edges;
}

}  // namespace

Status ExplainNeighbours(const schema::Program& program, const std::vector<bool>& gone,
                         PassContext& context) {
  if (std::ranges::find(gone, true) == gone.end()) return OkStatus();
  std::map<std::pair<std::vector<std::string>, std::vector<std::string>>, int> explained;
  Occurrences occurrences;
  context.decisions->ForEach([&](const Decision& d) {
    if (!d.IsEdge()) return;
    occurrences.Next(IdentityOf(d));
    if (d.choice == kSeparate) ++explained[{d.subject.nodes, d.subject.into}];
  });
  for (const auto& [edge, buffer] : EdgesOf(program)) {
    const std::vector<std::string>& from = program.steps[edge.first].sources;
    const std::vector<std::string>& to = program.steps[edge.second].sources;
    if (explained[{from, to}]-- > 0) continue;
    Decision d =
        context.About(DecisionKind::kFusion, schema::Subject::Edge(from, to), kChangeStatesInPlace);
    d.choice = kSeparate;
    d.Because(Reason::kOnlyLegal);
    const bool data = !buffer.empty();
    d.alternatives.push_back({std::string(kFused),
                              data ? StrCat("loop: '", buffer, "' is carried to the next trip")
                                   : "dataflow: no value goes from one to the other",
                              -1});
    AICF_RETURN_IF_ERROR(CheckRefusals(context.wishes, d, occurrences.Next(IdentityOf(d))));
    context.Record(std::move(d));
  }
  return OkStatus();
}

}  // namespace aicf
