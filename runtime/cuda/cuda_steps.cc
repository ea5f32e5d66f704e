#include "runtime/cuda/cuda_steps.h"

#include <utility>
#include <vector>

#include "runtime/cuda/launch.h"
#include "schema/artifact.h"
#include "schema/roots.h"

namespace aicf::cuda {
namespace {

class CudaSteps final : public StepByStep {
 public:
  CudaSteps(std::shared_ptr<const DeviceProgram> shared, size_t entry)
      : shared_(std::move(shared)),
        entry_(plan().entry_points[entry]),
        roots_(schema::RootsOf(plan())) {}

  /// REQUIRES: the device's context is current.
  Status Prepare();

  Status Read(uint32_t buffer, std::byte* to) override;
  Status Write(uint32_t buffer, const std::byte* from) override;
  Status RunStep(uint32_t step) override;
  std::string device_name() const override { return device().name(); }

 private:
  const Device& device() const { return *shared_->device(); }
  const Driver& driver() const { return device().driver(); }
  const schema::Program& plan() const { return shared_->plan(); }
  AddressMap addresses() const {
    return {plan(), arena_.get(), shared_->weights(), state_.get(), nullptr, &roots_};
  }
  Status AllocateZeroed(std::string_view what, uint64_t bytes, DeviceMemory& memory);
  Status Finish(std::string_view what) {
    return driver().Check(driver().StreamSynchronize(stream_.get()), what);
  }

  // Members depend on those before them: they are destroyed from the last to the first.
  std::shared_ptr<const DeviceProgram> shared_;
  const schema::EntryPoint& entry_;
  const std::vector<uint32_t> roots_;
  DeviceMemory arena_, state_;
  Stream stream_;
  std::vector<std::unique_ptr<Launch>> launches_;
};

Status CudaSteps::AllocateZeroed(std::string_view what, uint64_t bytes, DeviceMemory& memory) {
  AICF_ASSIGN_OR_RETURN(memory, AllocateDevice(shared_->device(), what, bytes));
  if (!memory) return OkStatus();
  AICF_CUDA_CHECK(
      driver(), what,
      driver().MemsetD8Async(memory.get(), static_cast<unsigned char>(0), bytes, stream_.get()));
  return Finish(what);
}

Status CudaSteps::Prepare() {
  AICF_ASSIGN_OR_RETURN(stream_, CreateStream(shared_->device()));
  AICF_RETURN_IF_ERROR(AllocateZeroed("allocating the arena", plan().arena_bytes, arena_));
  AICF_RETURN_IF_ERROR(AllocateZeroed("allocating the state", plan().state_bytes, state_));
  AICF_ASSIGN_OR_RETURN(launches_, BuildLaunches(*shared_, entry_, addresses()));
  return OkStatus();
}

Status CudaSteps::Read(uint32_t buffer, std::byte* to) {
  const uint64_t bytes = plan().buffers[buffer].bytes;
  if (bytes == 0) return OkStatus();
  const ContextScope scope(device());
  AICF_RETURN_IF_ERROR(scope.status());
  AICF_CUDA_CHECK(
      driver(), "downloading a buffer",
      driver().MemcpyDtoHAsync(to, addresses().Of(buffer), size_t{bytes}, stream_.get()));
  return Finish("downloading a buffer");
}

Status CudaSteps::Write(uint32_t buffer, const std::byte* from) {
  const uint64_t bytes = plan().buffers[buffer].bytes;
  if (bytes == 0) return OkStatus();
  const ContextScope scope(device());
  AICF_RETURN_IF_ERROR(scope.status());
  AICF_CUDA_CHECK(
      driver(), "uploading a buffer",
      driver().MemcpyHtoDAsync(addresses().Of(buffer), from, size_t{bytes}, stream_.get()));
  return Finish("uploading a buffer");
}

Status CudaSteps::RunStep(uint32_t step) {
  const ContextScope scope(device());
  AICF_RETURN_IF_ERROR(scope.status());
  Status status = launches_[step - entry_.first_step]->Enqueue(stream_.get());
  if (status.ok()) status = Finish("running the step");
  if (status.ok()) return status;
  return status.WithContext(StrCat("step ", step, " (", plan().steps[step].kernel, ")"));
}

}  // namespace

Result<std::unique_ptr<StepByStep>> CreateCudaSteps(std::shared_ptr<const Program> program,
                                                    size_t entry, int ordinal, Driver* driver) {
  if (driver == nullptr) {
    AICF_ASSIGN_OR_RETURN(driver, Driver::Get());
  }
  AICF_ASSIGN_OR_RETURN(std::shared_ptr<const DeviceProgram> shared,
                        DeviceProgram::Acquire(std::move(program), *driver, ordinal));
  // Keeps the device alive until `scope` has left its context: an executor that fails to prepare
  // drops its own reference before.
  const std::shared_ptr<const Device> device = shared->device();
  const ContextScope scope(*device);
  AICF_RETURN_IF_ERROR(scope.status());
  auto steps = std::make_unique<CudaSteps>(std::move(shared), entry);
  AICF_RETURN_IF_ERROR(steps->Prepare());
  return std::unique_ptr<StepByStep>(std::move(steps));
}

}  // namespace aicf::cuda
