#include "runtime/cpu/cpu_session.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include "kernels/abi/kernel.h"
#include "runtime/budget.h"
#include "runtime/cpu/memory.h"
#include "runtime/cpu/step_table.h"
#include "runtime/cpu/workers.h"
#include "runtime/session_base.h"
#include "runtime/trace/stats.h"
#include "schema/artifact.h"

namespace aicf {
namespace {

using Clock = std::chrono::steady_clock;

/// Alignment that kernels may assume of a buffer's first byte.
constexpr uint64_t kHostAlignment = 64;

double MicrosSince(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

class CpuSession final : public SessionBase {
 public:
  CpuSession(std::shared_ptr<const Program> program, const SessionOptions& options)
      : SessionBase(std::move(program)), options_(options) {}
  ~CpuSession() override { WaitUntilIdle(); }

  /// Does everything that can fail. REQUIRES: called once, before the session is handed out.
  Status Prepare();

  MemoryReport memory() const override;
  std::string device_name() const override { return "cpu"; }

 private:
  StepTable& steps() { return tables_[current()]; }

  Status StoreInput(size_t index, uint64_t offset, const void* data, uint64_t bytes) override {
    // memmove, not memcpy: the caller may hand in memory of this very session.
    std::memmove(steps().AddressOf(entry().inputs[index]) + offset, data, bytes);
    return OkStatus();
  }
  Status LoadOutput(size_t index, uint64_t offset, void* data, uint64_t bytes) override {
    std::memmove(data, steps().AddressOf(entry().outputs[index]) + offset, bytes);
    return OkStatus();
  }
  Result<void*> InputAddress(size_t index) override {
    return static_cast<void*>(steps().AddressOf(entry().inputs[index]));
  }
  Result<void*> OutputAddress(size_t index) override {
    return static_cast<void*>(steps().AddressOf(entry().outputs[index]));
  }
  Status CheckIdle() override { return OkStatus(); }
  Status CheckLaneIdle() override { return OkStatus(); }
  Status ClearInputs() override {
    for (const std::vector<uint32_t>* list : {&entry().inputs, &entry().metas}) {
      for (uint32_t b : *list) {
        const uint64_t bytes = plan().buffers[b].bytes;
        if (bytes > 0 && !IsBound(b)) std::memset(steps().AddressOf(b), 0, bytes);
      }
    }
    return OkStatus();
  }
  Status StoreMeta(size_t index, const void* data, uint64_t bytes) override {
    std::memmove(steps().AddressOf(entry().metas[index]), data, bytes);
    return OkStatus();
  }
  Status StoreState(uint32_t buffer, const void* from) override {
    const uint64_t bytes = plan().buffers[buffer].bytes;
    if (bytes == 0) return OkStatus();
    if (from == nullptr) {
      std::memset(steps().AddressOf(buffer), 0, bytes);
    } else {
      std::memmove(steps().AddressOf(buffer), from, bytes);
    }
    return OkStatus();
  }
  Status LoadState(uint32_t buffer, void* to) override {
    std::memmove(to, steps().AddressOf(buffer), plan().buffers[buffer].bytes);
    return OkStatus();
  }
  Result<void*> StateAddress(uint32_t buffer) override {
    return static_cast<void*>(steps().AddressOf(buffer));
  }
  Result<std::unique_ptr<SessionBase>> Duplicate() override;
  Status Rebind(const BoundMemory& bound, bool all_entries) override;
  bool Owns(const std::byte* data, uint64_t bytes) const override {
    return arena_.Overlaps(data, bytes) || state_.Overlaps(data, bytes);
  }
  uint64_t binding_alignment() const override { return kHostAlignment; }
  TableMemory MemoryWith(const BoundMemory& bound) const {
    return {arena_.data(), state_.data(), bound};
  }
  /// Called whenever the tables have changed, for memory().
  void CountScratch();
  Result<StepTable> BuildTable(size_t entry, const BoundMemory& bound,
                               const std::shared_ptr<const BufferAddresses>& addresses) const;
  Status RunOnce() override { return steps().RunAll(most_operations_); }
  Status WaitForRun() override { return OkStatus(); }
  Result<std::vector<StepProfile>> ProfileSteps(int iterations) override;
  Result<std::vector<double>> TimeRuns(int iterations) override;

  const SessionOptions options_;
  double most_operations_ = 0;  ///< of a run
  HostMemory arena_, state_;
  std::unique_ptr<Workers> workers_;
  std::vector<StepTable> tables_;  ///< by entry point; all in one arena
  /// Scratch memory of all tables. memory() reads it instead of the tables, because any thread may
  /// call it while Rebind replaces them.
  std::atomic<uint64_t> scratch_bytes_{0};
};

Result<StepTable> CpuSession::BuildTable(
    size_t entry, const BoundMemory& bound,
    const std::shared_ptr<const BufferAddresses>& addresses) const {
  return StepTable::Build(program().artifact(), plan().entry_points[entry], MemoryWith(bound),
                          addresses, workers_->context());
}

Status CpuSession::Prepare() {
  AICF_ASSIGN_OR_RETURN(most_operations_, MostOperations(options_.max_operations));
  for (const schema::EntryPoint& e : plan().entry_points) {
    AICF_RETURN_IF_ERROR(CheckOperations(plan(), e, most_operations_));
  }
  AICF_ASSIGN_OR_RETURN(arena_, HostMemory::Allocate("arena", plan().arena_bytes));
  AICF_ASSIGN_OR_RETURN(state_, HostMemory::Allocate("state", plan().state_bytes));
  AICF_ASSIGN_OR_RETURN(workers_, Workers::Start(options_.threads));
  const auto addresses = StepTable::Resolve(program().artifact(), MemoryWith(bound()));
  for (size_t e = 0; e < plan().entry_points.size(); ++e) {
    AICF_ASSIGN_OR_RETURN(StepTable table, BuildTable(e, bound(), addresses));
    tables_.push_back(std::move(table));
  }
  CountScratch();
  return OkStatus();
}

void CpuSession::CountScratch() {
  uint64_t bytes = 0;
  for (const StepTable& table : tables_) bytes += table.scratch_bytes();
  scratch_bytes_.store(bytes, std::memory_order_relaxed);
}

Status CpuSession::Rebind(const BoundMemory& bound, bool all_entries) {
  std::vector<StepTable> fresh;
  const auto addresses = StepTable::Resolve(program().artifact(), MemoryWith(bound));
  for (size_t e = 0; e < tables_.size(); ++e) {
    if (!all_entries && e != current()) continue;
    AICF_ASSIGN_OR_RETURN(StepTable table, BuildTable(e, bound, addresses));
    fresh.push_back(std::move(table));
  }
  if (all_entries) {
    tables_ = std::move(fresh);
  } else {
    tables_[current()] = std::move(fresh[0]);
  }
  CountScratch();
  return OkStatus();
}

Result<std::unique_ptr<SessionBase>> CpuSession::Duplicate() {
  auto fork = std::make_unique<CpuSession>(shared_program(), options_);
  AICF_RETURN_IF_ERROR(fork->Prepare());
  for (uint32_t b = 0; b < plan().buffers.size(); ++b) {
    if (!schema::IsState(plan().buffers[b]) || plan().buffers[b].bytes == 0) continue;
    AICF_RETURN_IF_ERROR(fork->StoreState(b, steps().AddressOf(b)));
  }
  return std::unique_ptr<SessionBase>(std::move(fork));
}

Result<std::vector<StepProfile>> CpuSession::ProfileSteps(int iterations) {
  const StepTable& table = steps();
  std::vector<std::vector<double>> samples(table.size());
  for (int n = 0; n < iterations; ++n) {
    for (std::vector<double>& times : samples) times.push_back(0);
    // A loop's step counts with all its trips.
    AICF_RETURN_IF_ERROR(table.ForEachRun(most_operations_, [&](size_t i) {
      const Clock::time_point start = Clock::now();
      table.Run(i);
      samples[i].back() += MicrosSince(start);
    }));
  }
  std::vector<StepProfile> profile;
  for (size_t i = 0; i < table.size(); ++i) {
    profile.push_back(
        {entry().first_step + static_cast<uint32_t>(i), trace::Median(std::move(samples[i]))});
  }
  return profile;
}

Result<std::vector<double>> CpuSession::TimeRuns(int iterations) {
  std::vector<double> times(static_cast<size_t>(iterations));
  for (double& microseconds : times) {
    const Clock::time_point start = Clock::now();
    AICF_RETURN_IF_ERROR(steps().RunAll(most_operations_));
    microseconds = MicrosSince(start);
  }
  return times;
}

MemoryReport CpuSession::memory() const {
  MemoryReport report;
  report.arena_bytes = arena_.size() + scratch_bytes_.load(std::memory_order_relaxed);
  report.weights_bytes = program().artifact().weights().size();
  report.state_bytes = state_.size();
  report.total_device_bytes = report.arena_bytes + report.weights_bytes + report.state_bytes;
  return report;
}

}  // namespace

Status CheckInstructionSet(const abi::DeviceSpec& target, abi::CpuIsa machine) {
  if (target.backend != abi::Backend::kCpu || target.isa <= machine) return OkStatus();
  constexpr std::string_view kNames[] = {"cpu:baseline", "cpu:avx2", "cpu:avx512"};
  const std::string_view found = kNames[static_cast<size_t>(machine)];
  return Error(Code::kDevice, "the artifact is compiled for ", target.name,
               " but this machine offers ", found,
               "; compile the model with aicf-compile --target=", found);
}

Result<std::unique_ptr<Session>> CreateCpuSession(std::shared_ptr<const Program> program,
                                                  const SessionOptions& options) {
  AICF_ASSIGN_OR_RETURN(const abi::DeviceSpec target, abi::FindDevice(program->target()));
  AICF_RETURN_IF_ERROR(CheckInstructionSet(target, abi::HostIsa()));
  auto session = std::make_unique<CpuSession>(std::move(program), options);
  AICF_RETURN_IF_ERROR(session->Prepare());
  return std::unique_ptr<Session>(std::move(session));
}

}  // namespace aicf
