/// A program whose values lie apart: nothing over anything else, and a band that belongs to nobody
/// in front of each and behind all but the last. The plan is otherwise what it was: the same steps,
/// kernels and code.
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
  std::vector<Range> arena_bands, state_bands;  ///< ascending; what no step may touch
  std::vector<Range> values;                    ///< of the arena, workspaces among them
};

/// Moves every value, workspace and state to a place of its own. Metas of an entry point stay next
/// to each other, as plans have them. Errors: those of schema::Serialize.
Result<Spread> SpreadOut(const schema::Artifact& artifact);

}  // namespace aicf::bands
