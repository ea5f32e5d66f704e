/// Limits what a run on a CPU may compute (SessionOptions::max_operations). The operations of all
/// steps, each taken once, are counted before a run, those of the trips of loops during it.
#pragma once

#include "base/status.h"
#include "schema/program.h"

namespace aicf {

/// The limit that the option sets; kDefaultMaxOperations where it is 0. Errors: kInvalidArgument
/// for a negative number or NaN, which would otherwise look like a limit that was set.
Result<double> MostOperations(double max_operations);

/// Operations of steps [first, first + count), each taken once (abi::OperationCount).
double OperationsOf(const schema::Program& program, uint32_t first, uint32_t count);

/// Operations that a trip of the loop counts for: those of its steps and ten thousand more, because
/// a trip that computes next to nothing takes about the time of ten thousand operations.
double TripOperations(const schema::Program& program, const schema::Loop& loop);

/// Checks that a run of the entry point is within the limit, every step taken once. Errors:
/// kResource.
Status CheckOperations(const schema::Program& program, const schema::EntryPoint& entry,
                       double most);

/// The error for a loop that goes on beyond the limit: kResource.
Status EndlessLoop(double most);

}  // namespace aicf
