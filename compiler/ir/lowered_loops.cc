#include "compiler/ir/lowered_loops.h"

#include <algorithm>

#include "base/scanner.h"

namespace aicf::ir {
namespace {

struct Range {
  int64_t first = -1, last = -1, steps = 0;
};

Status CheckParents(const Lowered& lowered) {
  const auto count = static_cast<int32_t>(lowered.loops.size());
  for (int32_t l = 0; l < count; ++l) {
    const int32_t parent = lowered.loops[static_cast<size_t>(l)].parent;
    if (parent < kNoLoop || parent >= l) {
      return Error(Code::kInternal, "loop ", l, " is inside loop ", parent);
    }
  }
  for (const LoweredStep& step : lowered.steps) {
    if (step.loop >= kNoLoop && step.loop < count) continue;
    return Error(Code::kInternal, "a step is in loop ", step.loop, " of ", count);
  }
  return OkStatus();
}

}  // namespace

Result<std::vector<schema::Loop>> LoopRanges(const Lowered& lowered) {
  AICF_RETURN_IF_ERROR(CheckParents(lowered));
  std::vector<Range> ranges(lowered.loops.size());
  for (size_t s = 0; s < lowered.steps.size(); ++s) {
    for (int32_t l = lowered.steps[s].loop; l != kNoLoop;
         l = lowered.loops[static_cast<size_t>(l)].parent) {
      Range& r = ranges[static_cast<size_t>(l)];
      if (r.steps++ == 0) r.first = static_cast<int64_t>(s);
      r.last = static_cast<int64_t>(s);
    }
  }
  std::vector<schema::Loop> loops;
  for (size_t l = 0; l < ranges.size(); ++l) {
    const Range& r = ranges[l];
    if (r.steps == 0) return Error(Code::kInternal, "loop ", l, " has no steps");
    if (r.last - r.first + 1 != r.steps) {
      return Error(Code::kInternal, "loop ", l, " has ", r.steps, " steps among those from ",
                   r.first, " to ", r.last);
    }
    loops.push_back({static_cast<uint32_t>(r.first), static_cast<uint32_t>(r.steps),
                     lowered.loops[l].condition});
  }
  std::ranges::sort(loops, [](const schema::Loop& a, const schema::Loop& b) {
    return a.first_step != b.first_step ? a.first_step < b.first_step : a.step_count > b.step_count;
  });
  return loops;
}

Result<schema::LoopTree> LoopsOf(const Lowered& lowered) {
  schema::EntryPoint entry;
  entry.step_count = static_cast<uint32_t>(lowered.steps.size());
  AICF_ASSIGN_OR_RETURN(entry.loops, LoopRanges(lowered));
  return schema::LoopTree::Build(entry);
}

}  // namespace aicf::ir
