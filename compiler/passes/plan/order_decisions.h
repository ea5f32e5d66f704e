/// What the two passes about the order of a plan's steps share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/passes/pass.h"
#include "schema/program.h"

namespace aicf {

inline constexpr const char* kOneStream =
    "loop: an entry point that skips or repeats steps runs on one stream";

/// Whether the plan has a guard or a loop.
bool SkipsOrRepeats(const schema::Program& program);
/// Whether the step runs a cuda.* kernel, whose launch is known.
bool IsOwnKernel(const schema::Step& step);
/// Microseconds of each step from its "kernel" decision: measured, else predicted; -1: unknown.
std::vector<double> StepCosts(const schema::Program& program, const PassContext& context);
/// "16.9 us": three digits are more than a prediction has.
std::string TimeText(double us);
/// A decision about a step without choice and reason.
Decision OrderDecision(const schema::Program& program, size_t step, DecisionKind kind,
                       std::string_view pass, const PassContext& context);
/// The wish for this decision; nullptr: none.
const Wish* FindWish(const PassContext& context, const Decision& decision, int occurrence);

}  // namespace aicf
