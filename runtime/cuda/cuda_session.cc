#include "runtime/cuda/cuda_session.h"

#include <functional>
#include <optional>
#include <utility>

#include "runtime/cuda/graph.h"
#include "runtime/cuda/guards.h"
#include "runtime/cuda/launch.h"
#include "runtime/cuda/profiler.h"
#include "runtime/cuda/replay_timer.h"
#include "runtime/cuda/staging.h"
#include "runtime/session_base.h"
#include "schema/artifact.h"

namespace aicf::cuda {
namespace {

class CudaSession final : public SessionBase {
 public:
  CudaSession(std::shared_ptr<const Program> program, const SessionOptions& options)
      : SessionBase(std::move(program)), options_(options) {}
  ~CudaSession() override;

  /// REQUIRES: `shared`'s context is current.
  Status Prepare(std::shared_ptr<const DeviceProgram> shared);

  MemoryReport memory() const override;
  std::string device_name() const override { return device().name(); }

 protected:
  Status StoreInput(size_t index, const void* data, uint64_t bytes) override;
  Status LoadOutput(size_t index, uint64_t offset, void* data, uint64_t bytes) override;
  Result<void*> InputAddress(size_t index) override { return Pointer(entry().inputs[index]); }
  Result<void*> OutputAddress(size_t index) override { return Pointer(entry().outputs[index]); }
  Status RunOnce() override;
  Status WaitForRun() override;
  Result<std::vector<StepProfile>> ProfileSteps(int iterations) override;
  Result<std::vector<double>> TimeRuns(int iterations) override;

 private:
  const Device& device() const { return *shared_->device(); }
  const Driver& driver() const { return device().driver(); }
  CUstream own_stream() const { return stream_.get(); }
  CUstream replay_stream() const {
    return options_.stream != nullptr ? static_cast<CUstream>(options_.stream) : stream_.get();
  }
  AddressMap addresses() const { return {plan(), arena_.get(), shared_->weights()}; }
  void* Pointer(uint32_t buffer) const { return reinterpret_cast<void*>(addresses().Of(buffer)); }

  Status CheckStream() const;
  Status AllocateMemory();
  Status DryRun();
  Status ZeroArena();
  Status EnqueueReplay(CUstream stream, const std::function<Status(CUstream)>& steps) const;
  Status LaunchReplay();
  Status FinishReplay();
  /// The first line of every call. Errors: the sticky failure; kDevice in a forked child or after a
  /// reset of the device; kInvalidArgument while the caller captures his stream.
  Status Enter(const ContextScope& scope);
  Status RefuseInFlight();
  /// Remembers the first device failure: the context cannot be trusted after it.
  Status Remember(Status status);

  const SessionOptions options_;
  // In the order of their dependence: destroyed from the last to the first.
  std::shared_ptr<const DeviceProgram> shared_;
  DeviceMemory arena_;
  Staging staging_;
  Stream stream_;
  Event done_;
  std::vector<std::unique_ptr<Launch>> launches_;
  std::optional<GuardedSteps> guarded_;  ///< without a graph, and until there is one
  GraphExec graph_;
  bool in_flight_ = false;
  Status failure_;
};

CudaSession::~CudaSession() {
  WaitUntilIdle();
  if (shared_ == nullptr || !stream_) return;
  const ContextScope scope(device());
  if (!scope.ok()) return;
  (void)driver().StreamSynchronize(own_stream());
  if (in_flight_ && options_.sync == SyncPolicy::kEventRecord) {
    (void)driver().EventSynchronize(done_.get());
  } else if (in_flight_) {
    (void)driver().StreamSynchronize(replay_stream());
  }
}

Status CudaSession::CheckStream() const {
  if (options_.stream == nullptr) return OkStatus();
  CUcontext context = nullptr;
  AICF_CUDA_CHECK(driver(), "examining the caller's stream",
                  driver().StreamGetCtx(replay_stream(), &context));
  if (context == device().context()) return OkStatus();
  return Error(Code::kInvalidArgument,
               "the stream is not of the primary context of cuda:", device().ordinal());
}

Status CudaSession::AllocateMemory() {
  AICF_ASSIGN_OR_RETURN(
      arena_, AllocateDevice(shared_->device(), "allocating the arena", plan().arena_bytes));
  AICF_ASSIGN_OR_RETURN(stream_, CreateStream(shared_->device()));
  AICF_ASSIGN_OR_RETURN(done_, CreateEvent(shared_->device(), kEventDisableTiming));
  AICF_RETURN_IF_ERROR(ZeroArena());
  if (!options_.transfers) return OkStatus();
  AICF_ASSIGN_OR_RETURN(staging_,
                        Staging::Allocate(shared_->device(), plan(), entry(), addresses()));
  return OkStatus();
}

Status CudaSession::ZeroArena() {
  if (!arena_) return OkStatus();
  AICF_CUDA_CHECK(driver(), "clearing the arena",
                  driver().MemsetD8Async(arena_.get(), static_cast<unsigned char>(0),
                                         plan().arena_bytes, own_stream()));
  return OkStatus();
}

Status CudaSession::DryRun() {
  for (size_t i = 0; i < launches_.size(); ++i) {
    const schema::Step& step = plan().steps[entry().first_step + i];
    const Status status = launches_[i]->Enqueue(own_stream());
    if (!status.ok()) {
      return status.WithContext(StrCat("step ", entry().first_step + i, " (", step.kernel, ")"));
    }
  }
  AICF_CUDA_CHECK(driver(), "the dry run", driver().StreamSynchronize(own_stream()));
  // The run on zeros has filled state and temporaries: the first replay starts from a clean arena.
  AICF_RETURN_IF_ERROR(ZeroArena());
  AICF_CUDA_CHECK(driver(), "clearing the arena", driver().StreamSynchronize(own_stream()));
  return OkStatus();
}

Status CudaSession::Prepare(std::shared_ptr<const DeviceProgram> shared) {
  shared_ = std::move(shared);
  AICF_RETURN_IF_ERROR(CheckStream());
  AICF_RETURN_IF_ERROR(AllocateMemory());
  AICF_ASSIGN_OR_RETURN(launches_, BuildLaunches(*shared_, entry(), addresses()));
  AICF_RETURN_IF_ERROR(DryRun());
  AICF_ASSIGN_OR_RETURN(GuardedSteps guarded,
                        GuardedSteps::Prepare(*shared_, entry(), addresses(), launches_));
  guarded_.emplace(std::move(guarded));
  if (!options_.cuda_graph) return OkStatus();
  AICF_ASSIGN_OR_RETURN(
      graph_, CaptureGraph(shared_->device(), own_stream(), [&] {
        return EnqueueReplay(own_stream(), [&](CUstream s) { return guarded_->Capture(s); });
      }));
  guarded_.reset();  // the graph keeps what it recorded
  AICF_CUDA_CHECK(driver(), "uploading the graph", driver().StreamSynchronize(own_stream()));
  return OkStatus();
}

Status CudaSession::EnqueueReplay(CUstream stream,
                                  const std::function<Status(CUstream)>& steps) const {
  if (options_.transfers) AICF_RETURN_IF_ERROR(staging_.EnqueueUploads(stream));
  AICF_RETURN_IF_ERROR(steps(stream));
  if (options_.transfers) AICF_RETURN_IF_ERROR(staging_.EnqueueDownloads(stream));
  return OkStatus();
}

Status CudaSession::LaunchReplay() {
  if (!graph_) {
    return EnqueueReplay(replay_stream(), [this](CUstream s) { return guarded_->Enqueue(s); });
  }
  AICF_CUDA_CHECK(driver(), "launching the graph",
                  driver().GraphLaunch(graph_.get(), replay_stream()));
  return OkStatus();
}

Status CudaSession::FinishReplay() {
  switch (options_.sync) {
    case SyncPolicy::kFullSync:
      AICF_CUDA_CHECK(driver(), "running the program", driver().StreamSynchronize(replay_stream()));
      break;
    case SyncPolicy::kEventRecord:
      AICF_CUDA_CHECK(driver(), "recording the end of a replay",
                      driver().EventRecord(done_.get(), replay_stream()));
      in_flight_ = true;
      break;
    case SyncPolicy::kNoSync:
      in_flight_ = true;
      break;
  }
  return OkStatus();
}

Status CudaSession::Enter(const ContextScope& scope) {
  if (!failure_.ok()) return failure_;
  if (!device().InCreator()) {
    return Error(
        Code::kDevice,
        "this session belongs to the parent process: CUDA does not survive fork(); fork before "
        "anything uses CUDA");
  }
  if (!scope.ok()) return Remember(scope.status());
  if (options_.stream == nullptr) return OkStatus();
  CUstreamCaptureStatus capturing = kCaptureNone;
  AICF_CUDA_CHECK(driver(), "examining the caller's stream",
                  driver().StreamIsCapturing(replay_stream(), &capturing));
  if (capturing == kCaptureNone) return OkStatus();
  return Error(Code::kInvalidArgument,
               "the caller's stream is being captured: a replay is a graph launch, which a capture "
               "cannot hold");
}

Status CudaSession::Remember(Status status) {
  if (failure_.ok() && !status.ok()) failure_ = status;
  return status;
}

Status CudaSession::RunOnce() {
  const ContextScope scope(device());
  AICF_RETURN_IF_ERROR(Enter(scope));
  AICF_RETURN_IF_ERROR(Remember(LaunchReplay()));
  return Remember(FinishReplay());
}

Status CudaSession::WaitForRun() {
  const ContextScope scope(device());
  AICF_RETURN_IF_ERROR(Enter(scope));
  if (!in_flight_) return OkStatus();
  const CUresult result = options_.sync == SyncPolicy::kEventRecord
                              ? driver().EventSynchronize(done_.get())
                              : driver().StreamSynchronize(replay_stream());
  AICF_RETURN_IF_ERROR(Remember(driver().Check(result, "running the program")));
  in_flight_ = false;
  return OkStatus();
}

Status CudaSession::RefuseInFlight() {
  if (!in_flight_) return OkStatus();
  const CUresult result = options_.sync == SyncPolicy::kEventRecord
                              ? driver().EventQuery(done_.get())
                              : driver().StreamQuery(replay_stream());
  if (result == kCudaNotReady) {
    return Error(Code::kInvalidArgument,
                 "a replay is still in flight; call Wait() before touching inputs or outputs");
  }
  AICF_RETURN_IF_ERROR(Remember(driver().Check(result, "running the program")));
  in_flight_ = false;
  return OkStatus();
}

Status CudaSession::StoreInput(size_t index, const void* data, uint64_t bytes) {
  const ContextScope scope(device());
  AICF_RETURN_IF_ERROR(Enter(scope));
  AICF_RETURN_IF_ERROR(RefuseInFlight());
  if (options_.transfers) {
    __builtin_memcpy(staging_.input(index), data, bytes);
    return OkStatus();
  }
  const CUdeviceptr to = addresses().Of(entry().inputs[index]);
  AICF_RETURN_IF_ERROR(Remember(driver().Check(
      driver().MemcpyHtoDAsync(to, data, bytes, own_stream()), "uploading an input")));
  return Remember(driver().Check(driver().StreamSynchronize(own_stream()), "uploading an input"));
}

Status CudaSession::LoadOutput(size_t index, uint64_t offset, void* data, uint64_t bytes) {
  const ContextScope scope(device());
  AICF_RETURN_IF_ERROR(Enter(scope));
  AICF_RETURN_IF_ERROR(RefuseInFlight());
  if (options_.transfers) {
    __builtin_memcpy(data, static_cast<const std::byte*>(staging_.output(index)) + offset, bytes);
    return OkStatus();
  }
  const CUdeviceptr from = addresses().Of(entry().outputs[index]) + offset;
  AICF_RETURN_IF_ERROR(Remember(driver().Check(
      driver().MemcpyDtoHAsync(data, from, bytes, own_stream()), "downloading an output")));
  return Remember(
      driver().Check(driver().StreamSynchronize(own_stream()), "downloading an output"));
}

Result<std::vector<StepProfile>> CudaSession::ProfileSteps(int iterations) {
  AICF_RETURN_IF_ERROR(WaitForRun());
  const ContextScope scope(device());
  AICF_RETURN_IF_ERROR(Remember(scope.status()));
  if (options_.transfers) AICF_RETURN_IF_ERROR(Remember(staging_.EnqueueUploads(own_stream())));
  auto profile =
      ProfileLaunches(shared_->device(), own_stream(), launches_, entry().first_step, iterations);
  (void)Remember(profile.status());
  return profile;
}

Result<std::vector<double>> CudaSession::TimeRuns(int iterations) {
  AICF_RETURN_IF_ERROR(WaitForRun());
  const ContextScope scope(device());
  AICF_RETURN_IF_ERROR(Remember(scope.status()));
  auto times = TimeBackToBack(shared_->device(), replay_stream(), iterations,
                              [this] { return LaunchReplay(); });
  (void)Remember(times.status());
  return times;
}

MemoryReport CudaSession::memory() const {
  MemoryReport report;
  report.arena_bytes = plan().arena_bytes;
  report.weights_bytes = plan().weights_bytes;
  report.staging_bytes = staging_.bytes();
  report.total_device_bytes = report.arena_bytes + report.weights_bytes;
  return report;
}

}  // namespace

Result<std::unique_ptr<Session>> CreateCudaSession(std::shared_ptr<const Program> program,
                                                   int ordinal, const SessionOptions& options,
                                                   Driver* driver) {
  if (driver == nullptr) {
    AICF_ASSIGN_OR_RETURN(driver, Driver::Get());
  }
  AICF_ASSIGN_OR_RETURN(std::shared_ptr<const DeviceProgram> shared,
                        DeviceProgram::Acquire(program, *driver, ordinal));
  // Held until the context is left, since a session that fails lets go of it.
  const std::shared_ptr<const Device> device = shared->device();
  const ContextScope scope(*device);
  AICF_RETURN_IF_ERROR(scope.status());
  auto session = std::make_unique<CudaSession>(std::move(program), options);
  AICF_RETURN_IF_ERROR(session->Prepare(std::move(shared)));
  return std::unique_ptr<Session>(std::move(session));
}

}  // namespace aicf::cuda
