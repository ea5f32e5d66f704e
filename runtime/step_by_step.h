/// One entry point executed a step at a time, with every buffer open to be read and written between
/// steps: what verification needs and a session, which replays a whole graph, does not offer.
///
/// An executor here owns an arena and states of its own, zeroed, beside whatever sessions the
/// program has. It runs the very code that a session runs: on CUDA the same functions with the same
/// launches (one by one, not captured), on the CPU the same argument blocks. WalkSteps decides
/// which steps run, and how often.
///
/// Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "aicf/aicf.h"
#include "base/status.h"
#include "schema/program.h"

namespace aicf {

class StepByStep {
 public:
  virtual ~StepByStep() = default;
  StepByStep(const StepByStep&) = delete;
  StepByStep& operator=(const StepByStep&) = delete;

  /// Copies all bytes of a buffer, aliases resolved, out of the executor's memory or into it.
  /// `buffer` indexes the program's buffers. REQUIRES: Write is not called for a constant.
  /// Errors: kDevice.
  virtual Status Read(uint32_t buffer, std::byte* to) = 0;
  virtual Status Write(uint32_t buffer, const std::byte* from) = 0;
  /// Runs one step of the entry point, numbered as in the program, whatever its guards say, and
  /// waits for its end. Errors: kDevice, after which nothing here works any more.
  virtual Status RunStep(uint32_t step) = 0;
  virtual std::string device_name() const = 0;

 protected:
  StepByStep() = default;
};

/// An executor of the kind that a session with these options would have. Of `options` only `device`
/// and, on a CPU, `threads` and `max_operations` are read. Errors: those of Session::Create, and
/// kInvalidArgument for an entry point that does not exist.
Result<std::unique_ptr<StepByStep>> MakeStepByStep(std::shared_ptr<const Program> program,
                                                   size_t entry, const SessionOptions& options);

/// What a step's packed operand was before it was packed, for reference kernels; see
/// StepTable::Kernels.
struct UnpackedInput {
  uint32_t step = 0;  ///< of the program
  uint32_t input = 0;
  const std::byte* data = nullptr;  ///< what the operand's view describes; outlives the executor
};

/// Every step on the reference kernel of its family, in an arena laid out as the program says. The
/// reference forms products exactly and adds them in f64, whatever math mode a step names. A packed
/// operand that `unpacked` lacks is unpacked from the plan's bytes, which gives the values that the
/// step's own kernel reads (abi::PackedLayout::recovery).
/// Errors: kUnsupported in a library without CPU kernels; kResource.
Result<std::unique_ptr<StepByStep>> MakeReferenceSteps(std::shared_ptr<const Program> program,
                                                       size_t entry, int threads,
                                                       std::span<const UnpackedInput> unpacked);

/// One run of a step, or its omission.
struct StepVisit {
  uint32_t step = 0;  ///< of the program
  int64_t trip = 0;   ///< how many visits the step has had before
  bool runs = true;   ///< false: one of its guards does not hold, and a replay skips it
};

/// Calls `visit` for every step in the order of a replay, for a loop's steps once in every trip.
/// Guards and loops' conditions are read from `steps` at the moment when they are needed. `visit`
/// runs the step, or leaves it out. Trips of loops count as for a session, up to `max_operations`
/// (SessionOptions; 0: the default).
/// Errors: those of `visit` and of reading a condition, which end the walk; kResource for a loop
/// that goes on.
Status WalkSteps(StepByStep& steps, const schema::Program& program, size_t entry,
                 const std::function<Status(const StepVisit&)>& visit, double max_operations = 0);

}  // namespace aicf
