#include "tests/faults/bands/spread.h"

#include <algorithm>
#include <set>
#include <utility>

namespace aicf::bands {
namespace {

using schema::Buffer;
using schema::Program;
using schema::Storage;

/// At least this much is nobody's after a value; a vector of a GPU's has 16 bytes, a tile of its
/// rows some hundred.
constexpr uint64_t kBand = 1024;

uint64_t Aligned(uint64_t bytes) {
  return (bytes + schema::kBufferAlignment - 1) / schema::kBufferAlignment *
         schema::kBufferAlignment;
}

/// Hands out places with bands between them.
class Places {
 public:
  /// The band in front of the first value.
  Places() { bands_.push_back({0, kBand}); }
  uint64_t Take(uint64_t bytes) {
    const uint64_t at = bands_.back().end;
    if (bytes == 0) return at;
    values_.push_back({at, at + bytes});
    bands_.push_back({at + bytes, Aligned(at + bytes) + kBand});
    return at;
  }
  /// Plans end with their last value, behind which there is no band therefore.
  uint64_t end() const { return values_.empty() ? 0 : values_.back().end; }
  std::vector<Range> TakeBands() {
    bands_.pop_back();
    return std::move(bands_);
  }
  std::vector<Range> TakeValues() { return std::move(values_); }

 private:
  std::vector<Range> bands_, values_;
};

/// One copy writes an entry point's metas, so they move together.
void PlaceMetas(Program& program, Places& arena, std::set<uint32_t>& placed) {
  for (const schema::EntryPoint& entry : program.entry_points) {
    uint64_t begin = UINT64_MAX, end = 0;
    for (const uint32_t b : entry.metas) {
      if (placed.contains(b)) continue;
      begin = std::min(begin, program.buffers[b].offset);
      end = std::max(end, program.buffers[b].offset + program.buffers[b].bytes);
    }
    if (begin >= end) continue;
    const uint64_t at = arena.Take(end - begin);
    for (const uint32_t b : entry.metas) {
      if (placed.insert(b).second) program.buffers[b].offset += at - begin;
    }
  }
}

void PlaceBuffers(Program& program, Places& arena, Places& state) {
  std::set<uint32_t> placed;
  PlaceMetas(program, arena, placed);
  for (uint32_t b = 0; b < program.buffers.size(); ++b) {
    Buffer& buffer = program.buffers[b];
    if (placed.contains(b)) continue;
    if (buffer.storage == Storage::kArena) buffer.offset = arena.Take(buffer.bytes);
    if (buffer.storage == Storage::kState) buffer.offset = state.Take(buffer.bytes);
  }
}

}  // namespace

Result<Spread> SpreadOut(const schema::Artifact& artifact) {
  schema::Contents contents;
  contents.program = artifact.program();
  contents.weights.assign(artifact.weights().begin(), artifact.weights().end());
  contents.images.assign(artifact.images().begin(), artifact.images().end());
  Program& program = contents.program;
  Places arena, state;
  PlaceBuffers(program, arena, state);
  for (schema::Step& step : program.steps) {
    if (step.workspace_bytes > 0) step.workspace_offset = arena.Take(step.workspace_bytes);
  }
  program.arena_bytes = arena.end();
  if (program.state_bytes > 0) program.state_bytes = state.end();
  Spread spread;
  AICF_ASSIGN_OR_RETURN(spread.artifact, schema::Serialize(contents));
  spread.arena_bands = arena.TakeBands();
  spread.values = arena.TakeValues();
  if (program.state_bytes > 0) spread.state_bands = state.TakeBands();
  return spread;
}

}  // namespace aicf::bands
