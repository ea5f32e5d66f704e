/// Memory of a plan: which buffers share bytes, and where everything lies in the arena.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "compiler/passes/pass.h"
#include "schema/program.h"

namespace aicf {

/// Lets outputs of steps overwrite an input that dies there, where the chosen kernel allows it:
/// sets Storage::kAlias. Records one "in-place" decision per output with the conditions that
/// failed. Errors: kBadArtifact when the loops do not nest.
Status DecideInPlace(schema::Program& program, PassContext& context);

/// Places the states one after the other, except those that are an alias: sets offsets and
/// state_bytes.
/// Errors: kResource when sizes overflow.
Status PlanStates(schema::Program& program);

/// Places arena buffers and workspaces: sets offsets, arena_bytes and arena_lower_bound. Metas come
/// first, next to each other.
/// Inputs are live throughout (a caller may replay without rewriting them), outputs from their
/// first writer to the end, what enters a loop until it ends. Records one "memory" decision.
/// Errors: kResource when sizes overflow.
Status PlanMemory(schema::Program& program, PassContext& context);

}  // namespace aicf
