#include "runtime/cpu/cpu_steps.h"

#include <cstring>
#include <optional>
#include <utility>

#include "runtime/cpu/cpu_session.h"
#include "runtime/cpu/memory.h"
#include "runtime/cpu/step_table.h"
#include "runtime/cpu/workers.h"
#include "schema/artifact.h"

namespace aicf {
namespace {

class CpuSteps final : public StepByStep {
 public:
  CpuSteps(std::shared_ptr<const Program> program, size_t entry)
      : program_(std::move(program)), entry_(plan().entry_points[entry]) {}

  /// Everything that can fail.
  Status Prepare(int threads, const StepTable::Kernels& kernels) {
    AICF_ASSIGN_OR_RETURN(arena_, HostMemory::Allocate("arena", plan().arena_bytes));
    AICF_ASSIGN_OR_RETURN(state_, HostMemory::Allocate("state", plan().state_bytes));
    AICF_ASSIGN_OR_RETURN(workers_, Workers::Start(threads));
    AICF_ASSIGN_OR_RETURN(StepTable table, StepTable::Build(program_->artifact(), entry_,
                                                            {arena_.data(), state_.data()},
                                                            workers_->context(), kernels));
    table_.emplace(std::move(table));
    return OkStatus();
  }

  Status Read(uint32_t buffer, std::byte* to) override {
    const uint64_t bytes = plan().buffers[buffer].bytes;
    if (bytes > 0) std::memcpy(to, table_->AddressOf(buffer), bytes);
    return OkStatus();
  }
  Status Write(uint32_t buffer, const std::byte* from) override {
    const uint64_t bytes = plan().buffers[buffer].bytes;
    if (bytes > 0) std::memcpy(table_->AddressOf(buffer), from, bytes);
    return OkStatus();
  }
  Status RunStep(uint32_t step) override {
    table_->RunAlways(step - entry_.first_step);
    return OkStatus();
  }
  std::string device_name() const override { return "cpu"; }

 private:
  const schema::Program& plan() const { return program_->artifact().program(); }

  std::shared_ptr<const Program> program_;
  const schema::EntryPoint& entry_;
  HostMemory arena_, state_;
  std::unique_ptr<Workers> workers_;
  std::optional<StepTable> table_;
};

Result<std::unique_ptr<StepByStep>> Create(std::shared_ptr<const Program> program, size_t entry,
                                           int threads, const StepTable::Kernels& kernels) {
  auto steps = std::make_unique<CpuSteps>(std::move(program), entry);
  AICF_RETURN_IF_ERROR(steps->Prepare(threads, kernels));
  return std::unique_ptr<StepByStep>(std::move(steps));
}

}  // namespace

Result<std::unique_ptr<StepByStep>> CreateCpuSteps(std::shared_ptr<const Program> program,
                                                   size_t entry, int threads) {
  AICF_ASSIGN_OR_RETURN(const abi::DeviceSpec target, abi::FindDevice(program->target()));
  AICF_RETURN_IF_ERROR(CheckInstructionSet(target, abi::HostIsa()));
  return Create(std::move(program), entry, threads, {});
}

Result<std::unique_ptr<StepByStep>> CreateReferenceSteps(std::shared_ptr<const Program> program,
                                                         size_t entry, int threads,
                                                         std::span<const UnpackedInput> unpacked) {
  return Create(std::move(program), entry, threads, {.reference = true, .unpacked = unpacked});
}

}  // namespace aicf
