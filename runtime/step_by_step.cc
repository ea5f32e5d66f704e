#include "runtime/step_by_step.h"

#include <utility>
#include <vector>

#include "base/guard.h"
#include "runtime/budget.h"
#include "runtime/cpu/cpu_steps.h"
#include "runtime/cuda/cuda_steps.h"
#include "runtime/device_choice.h"
#include "schema/artifact.h"
#include "schema/loop_walk.h"

namespace aicf {
namespace {

class Walk {
 public:
  Walk(StepByStep& steps, const schema::Program& program, const schema::EntryPoint& entry,
       const std::function<Status(const StepVisit&)>& visit, double most_operations)
      : steps_(steps),
        program_(program),
        entry_(entry),
        visit_(visit),
        trips_(entry.step_count),
        most_(most_operations),
        left_(most_operations) {}

  Status Run() {
    return schema::WalkSteps(
        entry_.loops, entry_.first_step, entry_.first_step + entry_.step_count,
        [this](uint32_t step) { return Visit(step); },
        [this](const schema::Loop& loop) { return Repeats(loop); });
  }

 private:
  /// Whether the loop makes one more trip. Each trip is charged with the operations of its steps
  /// and a few more, since a trip whose steps compute nothing takes time, too.
  Result<bool> Repeats(const schema::Loop& loop) {
    AICF_ASSIGN_OR_RETURN(const bool again, IsSet(loop.condition));
    if (!again) return false;
    left_ -= TripOperations(program_, loop);
    return left_ >= 0 ? Result<bool>(true) : EndlessLoop(most_);
  }

  Result<bool> IsSet(uint32_t buffer) {
    std::byte value{};
    AICF_RETURN_IF_ERROR(steps_.Read(buffer, &value));
    return value != std::byte{0};
  }

  Status Visit(uint32_t step) {
    StepVisit visit{step, trips_[step - entry_.first_step]++, true};
    for (const schema::Guard& guard : program_.steps[step].guards) {
      AICF_ASSIGN_OR_RETURN(const bool set, IsSet(guard.buffer));
      if (set != guard.expected) visit.runs = false;
      if (!visit.runs) break;
    }
    return visit_(visit);
  }

  StepByStep& steps_;
  const schema::Program& program_;
  const schema::EntryPoint& entry_;
  const std::function<Status(const StepVisit&)>& visit_;
  std::vector<int64_t> trips_;
  const double most_;
  double left_;
};

Status CheckEntryOperations(const Program& program, size_t entry, double max_operations) {
  AICF_ASSIGN_OR_RETURN(const double most, MostOperations(max_operations));
  const schema::Program& plan = program.artifact().program();
  return CheckOperations(plan, plan.entry_points[entry], most);
}

Status CheckEntry(const Program* program, size_t entry) {
  if (program == nullptr) return Error(Code::kInvalidArgument, "the program is null");
  if (entry < program->entries().size()) return OkStatus();
  return Error(Code::kInvalidArgument, "entry point ", entry, " of ", program->entries().size());
}

}  // namespace

Result<std::unique_ptr<StepByStep>> MakeStepByStep(std::shared_ptr<const Program> program,
                                                   size_t entry, const SessionOptions& options) {
  return Guarded([&]() -> Result<std::unique_ptr<StepByStep>> {
    AICF_RETURN_IF_ERROR(CheckEntry(program.get(), entry));
    AICF_ASSIGN_OR_RETURN(const int ordinal, ChooseDevice(*program, options.device));
    if (ordinal >= 0) return cuda::CreateCudaSteps(std::move(program), entry, ordinal);
    AICF_RETURN_IF_ERROR(CheckEntryOperations(*program, entry, options.max_operations));
    return CreateCpuSteps(std::move(program), entry, options.threads);
  });
}

Result<std::unique_ptr<StepByStep>> MakeReferenceSteps(std::shared_ptr<const Program> program,
                                                       size_t entry, int threads,
                                                       std::span<const UnpackedInput> unpacked) {
  return Guarded([&]() -> Result<std::unique_ptr<StepByStep>> {
    AICF_RETURN_IF_ERROR(CheckEntry(program.get(), entry));
    return CreateReferenceSteps(std::move(program), entry, threads, unpacked);
  });
}

Status WalkSteps(StepByStep& steps, const schema::Program& program, size_t entry,
                 const std::function<Status(const StepVisit&)>& visit, double max_operations) {
  AICF_ASSIGN_OR_RETURN(const double most, MostOperations(max_operations));
  return Walk(steps, program, program.entry_points[entry], visit, most).Run();
}

}  // namespace aicf
