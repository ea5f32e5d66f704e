/// Rewrites a program so that its values lie apart. No two share bytes, and in front of each value
/// and behind all but the last lies a band of bytes that belongs to none. Otherwise the plan is the
/// same: it has the same steps, kernels and code.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "schema/artifact.h"

namespace aicf::bands {

/// Bytes [begin, end) of the arena or of the state block.
struct Range {
  uint64_t begin = 0, end = 0;
};

struct Spread {
  std::vector<std::byte> artifact;
  std::vector<Range> arena_bands, state_bands;  ///< bytes that no step may touch, ascending
  std::vector<Range> values;                    ///< values and workspaces in the arena
};

/// Moves every value, workspace and state to a place of its own. Metas of an entry point stay next
/// to each other, because one copy writes all of them. Errors: those of schema::Serialize.
Result<Spread> SpreadOut(const schema::Artifact& artifact);

}  // namespace aicf::bands
