/// Steps in the order in which they are executed, loops included: for everything that executes a
/// program step by step and decides the conditions itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.h"
#include "schema/program.h"

namespace aicf::schema {

/// Calls step(i), a Status, for the steps i of [first, last) in their order, and for those of a
/// loop again and again while repeats(loop), a Result<bool>, holds; it is asked before every trip.
/// The first error ends the walk and is returned.
///
/// REQUIRES: `loops` are those of an entry point, in its order (LoopTree::Build accepts them), and
/// none of them lies in [first, last) in part. `next` is the first of them that may be among these
/// steps.
template <class Step, class Repeats>
Status WalkSteps(std::span<const Loop> loops, uint32_t first, uint32_t last, Step&& step,
                 Repeats&& repeats, size_t next = 0) {
  for (uint32_t i = first; i < last;) {
    while (next < loops.size() && loops[next].first_step < i) ++next;
    if (next == loops.size() || loops[next].first_step != i) {
      AICF_RETURN_IF_ERROR(step(i++));
      continue;
    }
    const Loop& loop = loops[next];
    const uint32_t end = i + loop.step_count;
    while (true) {
      AICF_ASSIGN_OR_RETURN(const bool again, repeats(loop));
      if (!again) break;
      AICF_RETURN_IF_ERROR(WalkSteps(loops, i, end, step, repeats, next + 1));
    }
    i = end;
  }
  return OkStatus();
}

}  // namespace aicf::schema
