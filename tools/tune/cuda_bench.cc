#include "tools/tune/cuda_bench.h"

#include <utility>

#include "compiler/tune/bench_data.h"
#include "runtime/cuda/graph.h"

namespace aicf::tools {
namespace {

// Runs in one captured graph. The graph's launch then adds only a tenth of a microsecond to each.
constexpr int kWarmRuns = 10;

}  // namespace

Result<std::unique_ptr<CudaBench>> CudaBench::Make(std::shared_ptr<const Program> program,
                                                   const abi::Problem& problem,
                                                   std::vector<BenchEntry> entries,
                                                   const CudaSurroundings& around) {
  std::unique_ptr<CudaBench> bench(new CudaBench(std::move(entries), around));
  AICF_RETURN_IF_ERROR(bench->Load(std::move(program), problem));
  return bench;
}

Status CudaBench::Load(std::shared_ptr<const Program> program, const abi::Problem& problem) {
  AICF_ASSIGN_OR_RETURN(shared_, cuda::DeviceProgram::Acquire(std::move(program), *around_.driver,
                                                              around_.gpu->ordinal()));
  const cuda::ContextScope scope(*around_.gpu);
  AICF_RETURN_IF_ERROR(scope.status());
  const schema::Program& plan = shared_->plan();
  AICF_ASSIGN_OR_RETURN(
      arena_, cuda::AllocateDevice(around_.gpu, "operands of a measurement", plan.arena_bytes));
  AICF_ASSIGN_OR_RETURN(stream_, cuda::CreateStream(around_.gpu));
  AICF_ASSIGN_OR_RETURN(begin_, cuda::CreateEvent(around_.gpu, cuda::kEventDefault));
  AICF_ASSIGN_OR_RETURN(end_, cuda::CreateEvent(around_.gpu, cuda::kEventDefault));
  const cuda::AddressMap addresses(plan, arena_.get(), shared_->weights());
  AICF_RETURN_IF_ERROR(FillInputs(plan, problem, addresses));
  AICF_ASSIGN_OR_RETURN(launches_, cuda::BuildLaunches(*shared_, plan.entry_points[0], addresses));
  AICF_RETURN_IF_ERROR(DryRun());
  return around_.warm ? CaptureGraphs() : OkStatus();
}

Status CudaBench::FillInputs(const schema::Program& plan, const abi::Problem& problem,
                             const cuda::AddressMap& addresses) {
  const cuda::Driver& driver = *around_.driver;
  const std::vector<uint32_t>& inputs = plan.entry_points[0].inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::vector<std::byte> data = tune::BenchData(problem, static_cast<int>(i));
    if (data.empty()) continue;
    AICF_CUDA_CHECK(
        driver, "uploading operands",
        driver.MemcpyHtoDAsync(addresses.Of(inputs[i]), data.data(), data.size(), stream_.get()));
    AICF_CUDA_CHECK(driver, "uploading operands", driver.StreamSynchronize(stream_.get()));
  }
  return OkStatus();
}

Status CudaBench::DryRun() {
  for (size_t s = 0; s < launches_.size(); ++s) {
    const std::string_view kernel = shared_->plan().steps[s].kernel;
    AICF_RETURN_IF_ERROR(launches_[s]->Enqueue(stream_.get()).WithContext(kernel));
    AICF_RETURN_IF_ERROR(
        around_.driver
            ->Check(around_.driver->StreamSynchronize(stream_.get()), "the first run of a kernel")
            .WithContext(kernel));
  }
  return OkStatus();
}

Status CudaBench::CaptureGraphs() {
  for (const auto& launch : launches_) {
    const auto enqueue = [&]() -> Status {
      for (int i = 0; i < kWarmRuns; ++i) AICF_RETURN_IF_ERROR(launch->Enqueue(stream_.get()));
      return OkStatus();
    };
    AICF_ASSIGN_OR_RETURN(cuda::GraphExec graph,
                          cuda::CaptureGraph(around_.gpu, stream_.get(), enqueue));
    graphs_.push_back(std::move(graph));
  }
  return OkStatus();
}

Status CudaBench::EnqueueCold(const cuda::Launch& launch) {
  const cuda::Driver& driver = *around_.driver;
  // The memset takes longer than enqueuing what follows it, so the device never waits for the host
  // between the two events.
  AICF_CUDA_CHECK(driver, "flushing the cache",
                  driver.MemsetD8Async(around_.flush, static_cast<unsigned char>(1),
                                       around_.flush_bytes, stream_.get()));
  AICF_CUDA_CHECK(driver, "recording an event", driver.EventRecord(begin_.get(), stream_.get()));
  AICF_RETURN_IF_ERROR(launch.Enqueue(stream_.get()));
  AICF_CUDA_CHECK(driver, "recording an event", driver.EventRecord(end_.get(), stream_.get()));
  return OkStatus();
}

Status CudaBench::EnqueueWarm(const cuda::GraphExec& graph) {
  const cuda::Driver& driver = *around_.driver;
  // The first launch keeps the device busy until the second has been enqueued, and warms the
  // caches.
  AICF_CUDA_CHECK(driver, "launching a graph", driver.GraphLaunch(graph.get(), stream_.get()));
  AICF_CUDA_CHECK(driver, "recording an event", driver.EventRecord(begin_.get(), stream_.get()));
  AICF_CUDA_CHECK(driver, "launching a graph", driver.GraphLaunch(graph.get(), stream_.get()));
  AICF_CUDA_CHECK(driver, "recording an event", driver.EventRecord(end_.get(), stream_.get()));
  return OkStatus();
}

Result<double> CudaBench::Sample(size_t kernel) {
  const cuda::Driver& driver = *around_.driver;
  const cuda::ContextScope scope(*around_.gpu);
  AICF_RETURN_IF_ERROR(scope.status());
  const auto step = static_cast<size_t>(entries_[kernel].step);
  AICF_RETURN_IF_ERROR(around_.warm ? EnqueueWarm(graphs_[step]) : EnqueueCold(*launches_[step]));
  AICF_CUDA_CHECK(driver, "waiting for a measurement", driver.StreamSynchronize(stream_.get()));
  float milliseconds = 0;
  AICF_CUDA_CHECK(driver, "reading an event",
                  driver.EventElapsedTime(&milliseconds, begin_.get(), end_.get()));
  return 1000.0 * static_cast<double>(milliseconds) / (around_.warm ? kWarmRuns : 1);
}

}  // namespace aicf::tools
