/// One request as the scheduler knows it: tokens, pages, a slot, but neither text nor the rules by
/// which the text ends.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "runtime/language/metas.h"
#include "runtime/language/planner.h"

namespace aicf::language {

struct Sequence {
  std::vector<int32_t> history;  ///< the prompt, then what was drawn
  int64_t prompt = 0;            ///< tokens of the prompt
  /// The sequence ends when `history` has this many tokens, whatever they are; it may end sooner.
  int64_t most_tokens = std::numeric_limits<int64_t>::max();
  DrawOptions draw;

  // The scheduler's.
  int64_t cached = 0;  ///< positions that the cache has
  int64_t last_run = 0;
  int64_t preemptions = 0;
  int32_t slot = -1;  ///< -1: it waits
  std::vector<int32_t> pages;

  int64_t known() const { return static_cast<int64_t>(history.size()); }
  RequestView View() const {
    return {prompt, known(), cached, static_cast<int64_t>(pages.size()), last_run, slot >= 0};
  }
};

}  // namespace aicf::language
