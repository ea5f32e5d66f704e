#include "runtime/cuda/cuda_session.h"

#include <functional>
#include <optional>
#include <utility>

#include "runtime/cuda/graph.h"
#include "runtime/cuda/guards.h"
#include "runtime/cuda/lane_memory.h"
#include "runtime/cuda/launch.h"
#include "runtime/cuda/profiler.h"
#include "runtime/cuda/replay_timer.h"
#include "runtime/cuda/staging.h"
#include "runtime/session_base.h"
#include "schema/artifact.h"
#include "schema/step_order.h"

namespace aicf::cuda {
namespace {

class CudaSession final : public SessionBase {
 public:
  CudaSession(std::shared_ptr<const Program> program, const SessionOptions& options, size_t lanes)
      : SessionBase(std::move(program), lanes), options_(options), lanes_(lanes) {}
  ~CudaSession() override;

  /// REQUIRES: `shared`'s context is current.
  Status Prepare(std::shared_ptr<const DeviceProgram> shared);

  MemoryReport memory() const override;
  std::string device_name() const override { return device().name(); }

 protected:
  Status StoreInput(size_t index, uint64_t offset, const void* data, uint64_t bytes) override;
  Status LoadOutput(size_t index, uint64_t offset, void* data, uint64_t bytes) override;
  Result<void*> InputAddress(size_t index) override { return Pointer(entry().inputs[index]); }
  Result<void*> OutputAddress(size_t index) override { return Pointer(entry().outputs[index]); }
  Status CheckIdle() override;
  Status CheckLaneIdle() override;
  Status ClearInputs() override;
  Status StoreMeta(size_t index, const void* data, uint64_t bytes) override;
  Status StoreState(uint32_t buffer, const void* from) override;
  Status LoadState(uint32_t buffer, void* to) override;
  Result<void*> StateAddress(uint32_t buffer) override { return Pointer(buffer); }
  Result<std::unique_ptr<SessionBase>> Duplicate() override;
  Status Rebind(const BoundMemory& bound, bool all_entries) override;
  bool Owns(const std::byte* data, uint64_t bytes) const override;
  uint64_t binding_alignment() const override { return schema::kBufferAlignment; }
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
  /// Addresses that the selected lane's replays of the selected entry point use, in bound memory
  /// and in the lane's own memory, too.
  AddressMap addresses() const { return AddressesOf(bound_addresses_, lanes_[lane()], current()); }
  void* Pointer(uint32_t buffer) const { return reinterpret_cast<void*>(addresses().Of(buffer)); }

  /// One entry point in one lane, ready to be replayed.
  struct Replay {
    std::vector<std::unique_ptr<Launch>> launches;
    std::optional<GuardedSteps> guarded;  ///< dropped once the graph is captured, if there is one
    std::optional<GraphExec> graph;
  };
  /// The replays of one entry point, by lane. Each is allocated by itself and never moves, because
  /// its guarded steps point into it.
  using Replays = std::vector<std::unique_ptr<Replay>>;
  /// What every lane has for itself, so that its replay can be in flight beside those of other
  /// lanes.
  struct Lane {
    Staging staging;
    /// Set only where replays of several lanes are queued behind each other, that is, with
    /// SyncPolicy::kEventRecord: the place of this lane's metas on the device, and the outputs that
    /// its steps write to `staging` directly.
    std::optional<LaneMemory> memory;
    Event done;
    bool in_flight = false;
  };
  AddressMap AddressesOf(std::shared_ptr<const BoundAddresses> bound, const Lane& lane,
                         size_t entry) const {
    return {plan(),
            arena_.get(),
            shared_->weights(),
            state_.get(),
            std::move(bound),
            &roots(),
            lane.memory ? lane.memory->addresses(entry) : nullptr};
  }

  Status CheckStream() const;
  Status AllocateMemory();
  Result<Replays> PrepareEntry(size_t index, const std::shared_ptr<const BoundAddresses>& bound,
                               bool dry_run);
  Status DryRun(const schema::EntryPoint& e, const Replay& replay);
  Status Capture(const Lane& lane, size_t index, const AddressMap& addresses, Replay& replay);
  Status ZeroMemory();
  Status Zero(std::string_view what, const DeviceMemory& memory, uint64_t bytes);
  static Status EnqueueReplay(const Lane& lane, size_t index, const AddressMap& addresses,
                              CUstream stream, const std::function<Status(CUstream)>& steps);
  Status UploadMetas();
  Status CopyStates(const CudaSession& from);
  Status LaunchReplay();
  Status FinishReplay();
  /// Called first in every call that uses the driver. Errors: the sticky failure; kDevice in a
  /// forked child or after a reset of the device; kInvalidArgument while the caller captures his
  /// stream.
  Status Enter(const ContextScope& scope);
  Lane& own() { return lanes_[lane()]; }
  Status WaitForLane(Lane& lane);
  Status WaitForAll();
  Status RefuseInFlight(Lane& lane);
  /// Remembers the first device failure: the context cannot be trusted after it.
  Status Remember(Status status);

  const SessionOptions options_;
  // Members depend on those before them: they are destroyed from the last to the first.
  std::shared_ptr<const DeviceProgram> shared_;
  DeviceMemory arena_, state_;
  Stream stream_;
  std::vector<Lane> lanes_;
  std::shared_ptr<const BoundAddresses> bound_addresses_;  ///< null: nothing is bound
  std::vector<Replays> replays_;                           ///< by entry point
  Status failure_;
};

CudaSession::~CudaSession() {
  WaitUntilIdle();
  if (shared_ == nullptr || !stream_) return;
  const ContextScope scope(device());
  if (!scope.ok()) return;
  (void)driver().StreamSynchronize(own_stream());
  for (Lane& lane : lanes_) (void)WaitForLane(lane);
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
  AICF_ASSIGN_OR_RETURN(
      state_, AllocateDevice(shared_->device(), "allocating the state", plan().state_bytes));
  AICF_ASSIGN_OR_RETURN(stream_, CreateStream(shared_->device()));
  AICF_RETURN_IF_ERROR(ZeroMemory());
  for (Lane& lane : lanes_) {
    AICF_ASSIGN_OR_RETURN(lane.done, CreateEvent(shared_->device(), kEventDisableTiming));
    AICF_ASSIGN_OR_RETURN(lane.staging,
                          Staging::Allocate(shared_->device(), plan(), options_.transfers));
    if (lanes_.size() == 1 || options_.sync != SyncPolicy::kEventRecord) continue;
    AICF_ASSIGN_OR_RETURN(lane.memory,
                          LaneMemory::Allocate(shared_->device(), plan(), roots(), lane.staging));
  }
  return OkStatus();
}

Status CudaSession::ZeroMemory() {
  AICF_RETURN_IF_ERROR(Zero("clearing the arena", arena_, plan().arena_bytes));
  return Zero("clearing the state", state_, plan().state_bytes);
}

Status CudaSession::Zero(std::string_view what, const DeviceMemory& memory, uint64_t bytes) {
  if (!memory) return OkStatus();
  AICF_CUDA_CHECK(
      driver(), what,
      driver().MemsetD8Async(memory.get(), static_cast<unsigned char>(0), bytes, own_stream()));
  return OkStatus();
}

Status CudaSession::DryRun(const schema::EntryPoint& e, const Replay& replay) {
  for (size_t i = 0; i < replay.launches.size(); ++i) {
    const schema::Step& step = plan().steps[e.first_step + i];
    const Status status = replay.launches[i]->Enqueue(own_stream());
    if (!status.ok()) {
      return status.WithContext(StrCat("step ", e.first_step + i, " (", step.kernel, ")"));
    }
  }
  AICF_CUDA_CHECK(driver(), "the dry run", driver().StreamSynchronize(own_stream()));
  // The run on zeros has filled state and temporaries: what comes next, the dry run of another
  // entry point or the first replay, starts from a clean arena.
  AICF_RETURN_IF_ERROR(ZeroMemory());
  AICF_CUDA_CHECK(driver(), "clearing the arena", driver().StreamSynchronize(own_stream()));
  return OkStatus();
}

Status CudaSession::Capture(const Lane& lane, size_t index, const AddressMap& addresses,
                            Replay& replay) {
  const auto enqueue = [&] {
    return EnqueueReplay(lane, index, addresses, own_stream(),
                         [&](CUstream s) { return replay.guarded->Capture(s); });
  };
  AICF_ASSIGN_OR_RETURN(replay.graph, CaptureGraph(shared_->device(), own_stream(), enqueue));
  replay.guarded.reset();  // the graph keeps what it recorded
  AICF_CUDA_CHECK(driver(), "uploading the graph", driver().StreamSynchronize(own_stream()));
  return OkStatus();
}

Result<CudaSession::Replays> CudaSession::PrepareEntry(
    size_t index, const std::shared_ptr<const BoundAddresses>& bound, bool dry_run) {
  const schema::EntryPoint& e = plan().entry_points[index];
  Replays replays;
  for (const Lane& lane : lanes_) {
    const AddressMap map = AddressesOf(bound, lane, index);
    auto replay = std::make_unique<Replay>();
    AICF_ASSIGN_OR_RETURN(replay->launches, BuildLaunches(*shared_, e, map));
    if (dry_run && replays.empty()) AICF_RETURN_IF_ERROR(DryRun(e, *replay));
    AICF_ASSIGN_OR_RETURN(GuardedSteps guarded,
                          GuardedSteps::Prepare(*shared_, e, map, replay->launches));
    replay->guarded.emplace(std::move(guarded));
    if (options_.cuda_graph) AICF_RETURN_IF_ERROR(Capture(lane, index, map, *replay));
    replays.push_back(std::move(replay));
  }
  return replays;
}

Status CudaSession::Prepare(std::shared_ptr<const DeviceProgram> shared) {
  shared_ = std::move(shared);
  AICF_RETURN_IF_ERROR(CheckStream());
  AICF_RETURN_IF_ERROR(AllocateMemory());
  for (size_t e = 0; e < plan().entry_points.size(); ++e) {
    AICF_ASSIGN_OR_RETURN(Replays replays, PrepareEntry(e, nullptr, /*dry_run=*/true));
    replays_.push_back(std::move(replays));
  }
  return OkStatus();
}

// The new replays are made beside the old ones, which stay when that fails. There is no dry run: it
// would write into the caller's memory, and the functions have run before.
Status CudaSession::Rebind(const BoundMemory& bound, bool all_entries) {
  const ContextScope scope(device());
  AICF_RETURN_IF_ERROR(Enter(scope));
  auto addresses_of = std::make_shared<BoundAddresses>();
  for (const std::byte* data : bound) {
    addresses_of->push_back(reinterpret_cast<CUdeviceptr>(data));
  }
  std::vector<Replays> fresh(replays_.size());
  for (size_t e = 0; e < replays_.size(); ++e) {
    if (!all_entries && e != current()) continue;
    AICF_ASSIGN_OR_RETURN(fresh[e], PrepareEntry(e, addresses_of, /*dry_run=*/false));
  }
  for (size_t e = 0; e < replays_.size(); ++e) {
    if (!fresh[e].empty()) replays_[e] = std::move(fresh[e]);
  }
  bound_addresses_ = std::move(addresses_of);
  return OkStatus();
}

bool CudaSession::Owns(const std::byte* data, uint64_t bytes) const {
  const auto begin = reinterpret_cast<CUdeviceptr>(data);
  const auto overlaps = [&](CUdeviceptr block, uint64_t size) {
    return size > 0 && begin < block + size && block < begin + bytes;
  };
  return overlaps(arena_.get(), plan().arena_bytes) || overlaps(state_.get(), plan().state_bytes) ||
         overlaps(shared_->weights(), plan().weights_bytes);
}

Status CudaSession::EnqueueReplay(const Lane& lane, size_t index, const AddressMap& addresses,
                                  CUstream stream, const std::function<Status(CUstream)>& steps) {
  if (!lane.memory) AICF_RETURN_IF_ERROR(lane.staging.EnqueueMetas(index, addresses, stream));
  AICF_RETURN_IF_ERROR(lane.staging.EnqueueUploads(index, addresses, stream));
  AICF_RETURN_IF_ERROR(steps(stream));
  return lane.staging.EnqueueDownloads(index, addresses, stream);
}

// Where the lane's metas have a place of their own, they are copied to it beside the replay of
// another lane that is in flight. Otherwise the replay itself copies them.
Status CudaSession::UploadMetas() {
  if (!own().memory) return OkStatus();
  return own().memory->Upload(own().staging, current(), addresses(), own().done, replay_stream());
}

Status CudaSession::LaunchReplay() {
  const Replay& replay = *replays_[current()][lane()];
  if (!replay.graph) {
    return EnqueueReplay(own(), current(), addresses(), replay_stream(),
                         [&](CUstream s) { return replay.guarded->Enqueue(s); });
  }
  AICF_CUDA_CHECK(driver(), "launching the graph",
                  driver().GraphLaunch(replay.graph->get(), replay_stream()));
  return OkStatus();
}

Status CudaSession::FinishReplay() {
  switch (options_.sync) {
    case SyncPolicy::kFullSync:
      AICF_CUDA_CHECK(driver(), "running the program", driver().StreamSynchronize(replay_stream()));
      break;
    case SyncPolicy::kEventRecord:
      AICF_CUDA_CHECK(driver(), "recording the end of a replay",
                      driver().EventRecord(own().done.get(), replay_stream()));
      own().in_flight = true;
      break;
    case SyncPolicy::kNoSync:
      own().in_flight = true;
      break;
  }
  return OkStatus();
}

Status CudaSession::Enter(const ContextScope& scope) {
  if (!failure_.ok()) return failure_;
  AICF_RETURN_IF_ERROR(Remember(driver().health()));
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
  AICF_RETURN_IF_ERROR(Remember(UploadMetas()));
  AICF_RETURN_IF_ERROR(Remember(LaunchReplay()));
  return Remember(FinishReplay());
}

Status CudaSession::WaitForRun() {
  const ContextScope scope(device());
  AICF_RETURN_IF_ERROR(Enter(scope));
  return Remember(WaitForLane(own()));
}

Status CudaSession::WaitForAll() {
  const ContextScope scope(device());
  AICF_RETURN_IF_ERROR(Enter(scope));
  for (Lane& lane : lanes_) AICF_RETURN_IF_ERROR(Remember(WaitForLane(lane)));
  return OkStatus();
}

Status CudaSession::WaitForLane(Lane& lane) {
  if (!lane.in_flight) return OkStatus();
  const CUresult result = options_.sync == SyncPolicy::kEventRecord
                              ? driver().EventSynchronize(lane.done.get())
                              : driver().StreamSynchronize(replay_stream());
  AICF_RETURN_IF_ERROR(driver().Check(result, "running the program"));
  lane.in_flight = false;
  return OkStatus();
}

Status CudaSession::RefuseInFlight(Lane& lane) {
  if (!lane.in_flight) return OkStatus();
  const CUresult result = options_.sync == SyncPolicy::kEventRecord
                              ? driver().EventQuery(lane.done.get())
                              : driver().StreamQuery(replay_stream());
  if (result == kCudaNotReady) {
    return Error(Code::kInvalidArgument,
                 "a replay is still in flight; call Wait() before touching inputs or outputs");
  }
  AICF_RETURN_IF_ERROR(Remember(driver().Check(result, "running the program")));
  lane.in_flight = false;
  return OkStatus();
}

Status CudaSession::CheckIdle() {
  const ContextScope scope(device());
  AICF_RETURN_IF_ERROR(Enter(scope));
  for (Lane& lane : lanes_) AICF_RETURN_IF_ERROR(RefuseInFlight(lane));
  return OkStatus();
}

Status CudaSession::CheckLaneIdle() {
  const ContextScope scope(device());
  AICF_RETURN_IF_ERROR(Enter(scope));
  return RefuseInFlight(own());
}

// With transfers, every replay uploads the staging copy, so it is enough to clear that one.
// Without, the inputs' only copies are on the device.
Status CudaSession::ClearInputs() {
  own().staging.ClearInputs(current());
  if (options_.transfers) return OkStatus();
  const ContextScope scope(device());
  AICF_RETURN_IF_ERROR(Enter(scope));
  for (uint32_t b : entry().inputs) {
    const uint64_t bytes = plan().buffers[b].bytes;
    if (bytes == 0 || IsBound(b)) continue;
    AICF_RETURN_IF_ERROR(Remember(
        driver().Check(driver().MemsetD8Async(addresses().Of(b), static_cast<unsigned char>(0),
                                              bytes, own_stream()),
                       "clearing an input")));
  }
  return Remember(driver().Check(driver().StreamSynchronize(own_stream()), "clearing the inputs"));
}

Status CudaSession::StoreInput(size_t index, uint64_t offset, const void* data, uint64_t bytes) {
  const ContextScope scope(device());
  AICF_RETURN_IF_ERROR(Enter(scope));
  AICF_RETURN_IF_ERROR(RefuseInFlight(own()));
  if (options_.transfers) {
    __builtin_memcpy(own().staging.input(current(), index) + offset, data, bytes);
    return OkStatus();
  }
  const CUdeviceptr to = addresses().Of(entry().inputs[index]) + offset;
  AICF_RETURN_IF_ERROR(Remember(driver().Check(
      driver().MemcpyHtoDAsync(to, data, bytes, own_stream()), "uploading an input")));
  return Remember(driver().Check(driver().StreamSynchronize(own_stream()), "uploading an input"));
}

Status CudaSession::StoreMeta(size_t index, const void* data, uint64_t bytes) {
  const ContextScope scope(device());
  AICF_RETURN_IF_ERROR(Enter(scope));
  AICF_RETURN_IF_ERROR(RefuseInFlight(own()));
  if (bytes > 0) __builtin_memcpy(own().staging.meta(current(), index), data, bytes);
  return OkStatus();
}

Status CudaSession::StoreState(uint32_t buffer, const void* from) {
  const ContextScope scope(device());
  AICF_RETURN_IF_ERROR(Enter(scope));
  const uint64_t bytes = plan().buffers[buffer].bytes;
  if (bytes == 0) return OkStatus();
  const CUdeviceptr to = addresses().Of(buffer);
  const CUresult result =
      from == nullptr
          ? driver().MemsetD8Async(to, static_cast<unsigned char>(0), bytes, own_stream())
          : driver().MemcpyHtoDAsync(to, from, bytes, own_stream());
  AICF_RETURN_IF_ERROR(Remember(driver().Check(result, "writing a state")));
  return Remember(driver().Check(driver().StreamSynchronize(own_stream()), "writing a state"));
}

Status CudaSession::LoadState(uint32_t buffer, void* to) {
  const ContextScope scope(device());
  AICF_RETURN_IF_ERROR(Enter(scope));
  const uint64_t bytes = plan().buffers[buffer].bytes;
  AICF_RETURN_IF_ERROR(Remember(
      driver().Check(driver().MemcpyDtoHAsync(to, addresses().Of(buffer), bytes, own_stream()),
                     "reading a state")));
  return Remember(driver().Check(driver().StreamSynchronize(own_stream()), "reading a state"));
}

Status CudaSession::CopyStates(const CudaSession& from) {
  for (uint32_t b = 0; b < plan().buffers.size(); ++b) {
    const uint64_t bytes = plan().buffers[b].bytes;
    if (!schema::IsState(plan().buffers[b]) || bytes == 0) continue;
    AICF_CUDA_CHECK(
        driver(), "forking a state",
        driver().MemcpyDtoDAsync(addresses().Of(b), from.addresses().Of(b), bytes, own_stream()));
  }
  return driver().Check(driver().StreamSynchronize(own_stream()), "forking a state");
}

Result<std::unique_ptr<SessionBase>> CudaSession::Duplicate() {
  const ContextScope scope(device());
  AICF_RETURN_IF_ERROR(Enter(scope));
  auto fork = std::make_unique<CudaSession>(shared_program(), options_, lanes());
  AICF_RETURN_IF_ERROR(fork->Prepare(shared_));
  AICF_RETURN_IF_ERROR(fork->CopyStates(*this));
  return std::unique_ptr<SessionBase>(std::move(fork));
}

Status CudaSession::LoadOutput(size_t index, uint64_t offset, void* data, uint64_t bytes) {
  const ContextScope scope(device());
  AICF_RETURN_IF_ERROR(Enter(scope));
  AICF_RETURN_IF_ERROR(RefuseInFlight(own()));
  if (options_.transfers) {
    __builtin_memcpy(data, own().staging.output(current(), index) + offset, bytes);
    return OkStatus();
  }
  const CUdeviceptr from = addresses().Of(entry().outputs[index]) + offset;
  AICF_RETURN_IF_ERROR(Remember(driver().Check(
      driver().MemcpyDtoHAsync(data, from, bytes, own_stream()), "downloading an output")));
  return Remember(
      driver().Check(driver().StreamSynchronize(own_stream()), "downloading an output"));
}

Result<std::vector<StepProfile>> CudaSession::ProfileSteps(int iterations) {
  AICF_RETURN_IF_ERROR(WaitForAll());
  const ContextScope scope(device());
  AICF_RETURN_IF_ERROR(Remember(scope.status()));
  AICF_RETURN_IF_ERROR(Remember(own().staging.EnqueueMetas(current(), addresses(), own_stream())));
  AICF_RETURN_IF_ERROR(
      Remember(own().staging.EnqueueUploads(current(), addresses(), own_stream())));
  auto profile =
      ProfileLaunches(shared_->device(), own_stream(), replays_[current()][lane()]->launches,
                      entry().first_step, schema::StepOrder(plan(), entry()).serial(), iterations);
  (void)Remember(profile.status());
  return profile;
}

Result<std::vector<double>> CudaSession::TimeRuns(int iterations) {
  AICF_RETURN_IF_ERROR(WaitForAll());
  const ContextScope scope(device());
  AICF_RETURN_IF_ERROR(Remember(scope.status()));
  AICF_RETURN_IF_ERROR(Remember(UploadMetas()));
  auto times = TimeBackToBack(shared_->device(), replay_stream(), iterations,
                              [this] { return LaunchReplay(); });
  (void)Remember(times.status());
  return times;
}

MemoryReport CudaSession::memory() const {
  MemoryReport report;
  report.arena_bytes = plan().arena_bytes;
  report.weights_bytes = plan().weights_bytes;
  report.state_bytes = plan().state_bytes;
  report.total_device_bytes = report.arena_bytes + report.weights_bytes + report.state_bytes;
  for (const Lane& lane : lanes_) {
    report.staging_bytes += lane.staging.bytes();
    if (lane.memory) report.total_device_bytes += lane.memory->bytes();
  }
  return report;
}

}  // namespace

Result<std::unique_ptr<Session>> CreateCudaSession(std::shared_ptr<const Program> program,
                                                   int ordinal, const SessionOptions& options,
                                                   Driver* driver, size_t lanes) {
  if (driver == nullptr) {
    AICF_ASSIGN_OR_RETURN(driver, Driver::Get());
  }
  AICF_ASSIGN_OR_RETURN(std::shared_ptr<const DeviceProgram> shared,
                        DeviceProgram::Acquire(program, *driver, ordinal));
  // Keeps the device alive until `scope` has left its context: a session that fails to prepare
  // drops its own reference before.
  const std::shared_ptr<const Device> device = shared->device();
  const ContextScope scope(*device);
  AICF_RETURN_IF_ERROR(scope.status());
  auto session = std::make_unique<CudaSession>(std::move(program), options, lanes);
  AICF_RETURN_IF_ERROR(session->Prepare(std::move(shared)));
  return std::unique_ptr<Session>(std::move(session));
}

}  // namespace aicf::cuda
