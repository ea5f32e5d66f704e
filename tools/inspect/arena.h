/// Which buffers lie where in the arena at which step, as a chart in text and as data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "schema/lifetimes.h"
#include "schema/program.h"
#include "tools/common/decisions.h"

namespace aicf::tools {

struct ChartStyle {
  size_t width = 100;  ///< columns of the whole chart; at least 40 are used
  size_t rows = 16;    ///< lines of the arena's picture
  bool ascii = false;  ///< use ASCII characters only
  size_t listed = 12;  ///< how many buffers and workspaces, largest first, get a letter; at most 26
};

/// One entry point's arena.
struct ArenaView {
  std::vector<schema::Lifetime> lifetimes;
  std::vector<uint64_t> live;  ///< bytes that are live at each step, and after the last one
  uint64_t peak_bytes = 0;     ///< largest of `live`: the lower bound of the arena's size
  size_t peak = 0;             ///< position of the largest in `live`
};

/// REQUIRES: a verified program, `entry` an entry point of it.
Result<ArenaView> ViewArena(const schema::Program& program, size_t entry);

/// The picture: steps from left to right, bytes from bottom to top; below it the bytes live at each
/// step and a table of the largest. Ends with a newline.
std::string ArenaText(const schema::Program& program, size_t entry, const ArenaView& view,
                      const ChartStyle& style);

/// {"name", "first_step", "step_count", "peak_step", "peak_bytes", "live_bytes", "items"}; an item
/// has "value" and "name", or "workspace_of", and "offset", "bytes", "first", "last", "in_place".
Json ArenaJson(const schema::Program& program, size_t entry, const ArenaView& view);

/// "steps 3 to 9", "step 4", "always", "step 7 to the end".
std::string LifetimeText(const schema::Lifetime& lifetime, const schema::EntryPoint& entry);

}  // namespace aicf::tools
