/// Which bytes of the arena are taken when, by the rules of verify.h. The memory plan and the
/// drawings of memory are made with them.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "schema/program.h"
#include "schema/step_order.h"

namespace aicf::schema {

/// A buffer with everything in place of it, or a step's workspace, during one entry point.
struct Lifetime {
  static constexpr int64_t kBuffer = -1;

  /// First and last step, as numbers of the program's steps, both included. `last` is the entry
  /// point's first_step + step_count where the bytes are taken until after the replay.
  int64_t first = 0, last = -1;
  uint64_t offset = 0;
  uint64_t bytes = 0;              ///< taken: a multiple of kBufferAlignment
  std::vector<uint32_t> buffers;   ///< the one that has the offset, then those in place of it
  int64_t workspace_of = kBuffer;  ///< a step; `buffers` is then empty
  /// Where the entry point's steps run on several streams: all steps that name it, ascending.
  std::vector<int64_t> steps = {};

  friend bool operator==(const Lifetime&, const Lifetime&) = default;
};

/// What lies in the arena while an entry point runs: its buffers in ascending order, then its
/// workspaces by step. Inputs and metas live throughout (a caller may replay without writing them
/// again), outputs from their first writer to the end, anything else from the first to the last
/// step that names it, and through every loop that it enters. States are left out, since they have
/// a block of their own. Offsets are not read, so the program need not be placed yet.
///
/// REQUIRES: `entry` is an entry point; alias chains end.
/// Errors: kBadArtifact when the loops do not nest; kResource when a size overflows.
Result<std::vector<Lifetime>> LifetimesOf(const Program& program, size_t entry);

/// Whether the two may lie over each other: one is dead when the other one begins to live, and
/// where steps run on several streams all that name the one have finished by then.
bool MayShareBytes(const Lifetime& a, const Lifetime& b, const StepOrder& order);

/// Bytes live at each step of the entry point; one more element for those after the last step. The
/// largest is a lower bound of its arena: steps on several streams can need more.
std::vector<uint64_t> LiveBytes(const std::vector<Lifetime>& lifetimes, const EntryPoint& entry);

}  // namespace aicf::schema
