/// Order of a plan: which steps run beside each other on a GPU, and which launches overlap. Both
/// are passes on the plan (compiler/passes/pass_list.def) and do nothing for other targets.
#pragma once

#include "base/status.h"
#include "compiler/passes/pass.h"
#include "schema/program.h"

namespace aicf {

/// Sets Step::stream and Step::waits. A step leaves stream 0 where it belongs to a run of
/// consecutive steps that can go beside the run in front of it: neither needs the other, all
/// launches of both together leave room on the device, and the shorter run takes longer than a fork
/// and a join cost. Times are those of the "kernel" decisions. Side streams begin after the step
/// before the two runs, and the step after them waits for all. A step with small results also
/// leaves stream 0 where it belongs to a run that needs nothing of many steps before it, and where
/// some of these leave multiprocessors idle that it can use; only what needs it then waits for it
/// (compiler/passes/plan/early_runs.h). Records one "stream" decision
/// per step; a wish puts a step on any stream, and what it needs becomes a wait. Errors:
/// kUnsupported for a wish in an entry point that skips or repeats steps; kBadArtifact when loops
/// do not nest.
Status ChooseStreams(schema::Program& program, PassContext& context);

/// Sets Step::programmatic of every short step (kShortStepUs, kShortGatheringStepUs) wherever the
/// verifier allows it (schema/verify.h, rule 3). Records one "launch" decision per step with the
/// condition that failed. REQUIRES: streams are chosen.
/// Errors: kUnsupported for a wish that is refused; kBadArtifact when loops do not nest.
Status ChooseLaunches(schema::Program& program, PassContext& context);

/// Up to this predicted time of a step and of the one before it, launches included, launching the
/// step while the other one runs makes a program faster. With longer steps, more is lost than the
/// launch that is saved. The limits are from 30 programs on an H200
/// (bench/results/h200_launches.md). They hold for predicted times: measured one by one with
/// operands in no cache, as tuning does, the same steps take longer, so that tuned plans would
/// launch little early. The time in which a step streams what it reads ahead
/// (abi::KernelInfo::streams_ahead) does not count: a decode step of a language model gained 6 %
/// from early launches (bench/results/h200_language.md).
inline constexpr double kShortStepUs = 12;

/// The same for a step whose blocks may gather on few multiprocessors, so that others stay empty
/// while it runs: one for which Gathering (gathering.h) is above kGathering.
inline constexpr double kShortGatheringStepUs = 7;
inline constexpr double kGathering = 2;

/// A fork and its join in a captured graph, in microseconds: two edges across streams, and two
/// launches that cannot be programmatic. An estimate on the safe side.
inline constexpr double kForkJoinUs = 3.0;

/// Steps may run beside others only where one of them has at least this predicted time, launch
/// included. The seven steps that begin a token of a language model are each predicted to take 3 to
/// 4 us, and take 1.1 us each when they run one after the other. On four streams they took as long
/// and cost five edges: 404 us a token instead of 398 (SmolLM2-135M on an H100,
/// bench/results/h200_language.md).
inline constexpr double kLongStepUs = 5.0;

}  // namespace aicf
