/// What a run on a CPU may take (SessionOptions::max_operations): counted from the steps before it,
/// and from the trips of loops in it.
#pragma once

#include "base/status.h"
#include "schema/program.h"

namespace aicf {

/// What the option says; its default where it says nothing.
double MostOperations(double max_operations);

/// Operations of steps [first, first + count), each taken once (abi::OperationCount).
double OperationsOf(const schema::Program& program, uint32_t first, uint32_t count);

/// Operations of a trip of the loop. One that computes next to nothing takes time, too: as much as
/// ten thousand operations do.
double TripOperations(const schema::Program& program, const schema::Loop& loop);

/// That a run of the entry point is within the limit, every step taken once. Errors: kResource.
Status CheckOperations(const schema::Program& program, const schema::EntryPoint& entry,
                       double most);

/// A loop goes on beyond the limit: kResource.
Status EndlessLoop(double most);

}  // namespace aicf
