#include "compiler/ir/lowered_carried.h"

#include <algorithm>
#include <vector>

#include "base/scanner.h"
#include "compiler/ir/coverage.h"
#include "compiler/ir/lowered_loops.h"

namespace aicf::ir {
namespace {

using schema::LoopTree;

class Walk {
 public:
  Walk(const Lowered& lowered, const LoopTree& loops)
      : l_(lowered), loops_(loops), states_(lowered.buffers.size()) {}

  Status Run() {
    AICF_ASSIGN_OR_RETURN(const std::vector<schema::Loop> ranges, LoopRanges(l_));
    size_t next = 0;
    for (size_t s = 0; s < l_.steps.size(); ++s) {
      for (; next < ranges.size() && ranges[next].first_step == s; ++next) {
        AICF_RETURN_IF_ERROR(Read(ranges[next].condition, loops_.ParentOf(static_cast<int>(next))));
      }
      const Status status = Step(s);
      if (!status.ok()) return Error(Code::kInternal, "step ", s, ": ", status.message());
    }
    for (BufferId b : l_.outputs) AICF_RETURN_IF_ERROR(CheckReach(b, LoopTree::kNone));
    for (const schema::Loop& loop : ranges) {
      if (Changes(loop)) continue;
      return Error(Code::kInternal, "no step of a loop writes its condition '",
                   l_.buffers[loop.condition].name, "'");
    }
    return OkStatus();
  }

 private:
  struct State {
    std::vector<abi::View> writes;  // of a carried buffer, until it is whole
    bool written = false, whole = false;
    int home = LoopTree::kNone;  // loop of the first write if carried, else of the innermost
  };

  bool Changes(const schema::Loop& loop) const {
    for (uint32_t s = loop.first_step; s < loop.first_step + loop.step_count; ++s) {
      for (BufferId b : l_.steps[s].outputs) {
        if (b == loop.condition) return true;
      }
    }
    return false;
  }

  bool IsCarried(BufferId b) const { return l_.buffers[b].role == schema::Role::kCarried; }

  Status CheckReach(BufferId b, int loop) const {
    if (loops_.Contains(states_[b].home, loop)) return OkStatus();
    return Error(Code::kInternal, "'", l_.buffers[b].name,
                 "' is used outside the loop that writes it");
  }

  bool Whole(BufferId b) {
    State& state = states_[b];
    if (!state.whole) state.whole = CoverOnce(state.writes, *ElementCount(l_.buffers[b].shape));
    return state.whole;
  }

  Status Read(BufferId b, int loop) {
    AICF_RETURN_IF_ERROR(CheckReach(b, loop));
    if (!IsCarried(b) || Whole(b)) return OkStatus();
    return Error(Code::kInternal, "reads '", l_.buffers[b].name, "' before it is written in full");
  }

  Status Write(BufferId b, const abi::View& view, int loop) {
    State& state = states_[b];
    if (!IsCarried(b)) {
      // Some parts of a buffer may be written by a loop, and others by steps around it.
      if (!loops_.Contains(loop, state.home)) AICF_RETURN_IF_ERROR(CheckReach(b, loop));
      if (loops_.Contains(state.home, loop)) state.home = loop;
      return OkStatus();
    }
    if (!state.written) state.home = loop;
    state.written = true;
    AICF_RETURN_IF_ERROR(CheckReach(b, loop));
    if (loop == state.home && !state.whole) {
      state.writes.push_back(view);
      return OkStatus();
    }
    if (Whole(b)) return OkStatus();
    return Error(Code::kInternal, "changes '", l_.buffers[b].name,
                 "' before it is written in full");
  }

  Status Step(size_t s) {
    const LoweredStep& step = l_.steps[s];
    const int loop = loops_.InnermostOf(static_cast<int64_t>(s));
    for (BufferId b : step.inputs) AICF_RETURN_IF_ERROR(Read(b, loop));
    for (const schema::Guard& g : step.guards) AICF_RETURN_IF_ERROR(Read(g.buffer, loop));
    for (size_t k = 0; k < step.outputs.size(); ++k) {
      AICF_RETURN_IF_ERROR(Write(step.outputs[k], step.problem.outputs[k], loop));
    }
    return OkStatus();
  }

  const Lowered& l_;
  const LoopTree& loops_;
  std::vector<State> states_;
};

}  // namespace

Status CheckCarried(const Lowered& lowered, const LoopTree& loops) {
  const auto carried = [](const LoweredBuffer& b) { return b.role == schema::Role::kCarried; };
  const bool loopless = lowered.loops.empty() && std::ranges::none_of(lowered.buffers, carried);
  if (loopless) return OkStatus();  // no loop can be left, and no buffer changes
  return Walk(lowered, loops).Run();
}

}  // namespace aicf::ir
