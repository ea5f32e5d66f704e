#include "tools/tune/cpu_measurer.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <utility>

#include "compiler/tune/bench_data.h"
#include "compiler/tune/bench_program.h"
#include "runtime/cpu/step_table.h"

namespace aicf::tools {
namespace {

/// Reads a whole buffer, each thread its part, so that the buffer evicts whatever the caches held.
class Flusher {
 public:
  Flusher(const HostMemory& memory, const ParallelContext& parallel)
      : memory_(memory), parallel_(parallel) {}

  void Run() const {
    if (memory_.size() == 0) return;
    parallel_.parallel_for(parallel_.stream, parallel_.threads, &ReadPart,
                           const_cast<Flusher*>(this));
  }

 private:
  static constexpr uint64_t kLine = 64;

  static void ReadPart(void* context, int64_t part) {
    const auto& self = *static_cast<const Flusher*>(context);
    const uint64_t bytes = self.memory_.size() / static_cast<uint64_t>(self.parallel_.threads);
    const std::byte* const at = self.memory_.data() + static_cast<uint64_t>(part) * bytes;
    unsigned sum = 0;
    for (uint64_t i = 0; i < bytes; i += kLine) sum += static_cast<unsigned>(at[i]);
    asm volatile("" : : "r"(sum));
  }

  const HostMemory& memory_;
  const ParallelContext parallel_;
};

class CpuBench final : public tune::Bench {
 public:
  static Result<std::unique_ptr<CpuBench>> Make(const tune::BenchRequest& request,
                                                std::span<const std::byte> bytes,
                                                const ParallelContext& parallel,
                                                const HostMemory& flush) {
    std::unique_ptr<CpuBench> bench(new CpuBench(parallel, flush));
    AICF_ASSIGN_OR_RETURN(bench->artifact_, schema::Artifact::Parse(bytes, false));
    const schema::Program& program = bench->artifact_->program();
    AICF_ASSIGN_OR_RETURN(bench->arena_,
                          HostMemory::Allocate("operands of a measurement", program.arena_bytes));
    const schema::EntryPoint& entry = program.entry_points[0];
    AICF_ASSIGN_OR_RETURN(StepTable table, StepTable::Build(*bench->artifact_, entry,
                                                            {bench->arena_.data()}, parallel));
    bench->table_.emplace(std::move(table));
    for (size_t i = 0; i < entry.inputs.size(); ++i) {
      const std::vector<std::byte> data = tune::BenchData(*request.problem, static_cast<int>(i));
      if (!data.empty()) {
        std::memcpy(bench->table_->AddressOf(entry.inputs[i]), data.data(), data.size());
      }
    }
    // A first run outside of any sample touches all pages and fills what kernels keep per thread.
    for (size_t s = 0; s < bench->table_->size(); ++s) bench->table_->Run(s);
    return bench;
  }

  std::string Refusal(size_t) const override { return ""; }
  LibraryAlgorithm Algorithm(size_t) const override { return {}; }

  Result<double> Sample(size_t kernel) override {
    using Clock = std::chrono::steady_clock;
    if (warm_) {
      table_->Run(kernel);
    } else {
      flusher_.Run();
    }
    const Clock::time_point begin = Clock::now();
    table_->Run(kernel);
    const std::chrono::duration<double, std::micro> us = Clock::now() - begin;
    return us.count();
  }

 private:
  CpuBench(const ParallelContext& parallel, const HostMemory& flush)
      : flusher_(flush, parallel), warm_(flush.size() == 0) {}

  const Flusher flusher_;
  const bool warm_;
  std::shared_ptr<const schema::Artifact> artifact_;
  HostMemory arena_;
  std::optional<StepTable> table_;
};

uint64_t CacheBytes(int level) {
  const long bytes = sysconf(level);
  return bytes > 0 ? static_cast<uint64_t>(bytes) : 0;
}

}  // namespace

std::string CpuName(int threads) {
  std::string model = "unknown CPU";
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (!line.starts_with("model name")) continue;
    const size_t colon = line.find(": ");
    if (colon != std::string::npos) model = line.substr(colon + 2);
    break;
  }
  return StrCat(model, ", ", threads, threads == 1 ? " thread" : " threads");
}

Result<tune::DeviceId> CpuMeasurer::Open(const abi::DeviceSpec& device) {
  if (device.isa > abi::HostIsa()) {
    return Error(Code::kDevice, "--tune: this CPU lacks the instructions of ", device.name);
  }
  spec_ = device;
  AICF_ASSIGN_OR_RETURN(workers_, Workers::Start(0));
  const int threads = workers_->context().threads;
  if (!options_.warm) {
    const uint64_t last =
        std::clamp<uint64_t>(CacheBytes(_SC_LEVEL3_CACHE_SIZE), 8 << 20, 32 << 20);
    const uint64_t own = std::min<uint64_t>(CacheBytes(_SC_LEVEL2_CACHE_SIZE), 4 << 20);
    AICF_ASSIGN_OR_RETURN(
        flush_,
        HostMemory::Allocate("flushing the caches", last + own * static_cast<uint64_t>(threads)));
    // Pages that were never written all map to one page of zeros, so reading them would evict
    // nothing.
    std::memset(flush_.data(), 1, flush_.size());
  }
  return tune::DeviceId{tune::TargetOf(device), CpuName(threads)};
}

std::string CpuMeasurer::VersionOf(const abi::KernelInfo& kernel) {
  if (kernel.backend != abi::Backend::kCpu) return "";
  return StrCat(options_.warm ? "warm," : "", "aicf-", AICF_VERSION);
}

Status CpuMeasurer::Prepare(std::span<const tune::BenchRequest> requests) {
  requests_.assign(requests.begin(), requests.end());
  return OkStatus();
}

Result<std::unique_ptr<tune::Bench>> CpuMeasurer::Make(size_t index) {
  const tune::BenchRequest& request = requests_[index];
  std::vector<tune::BenchKernel> kernels;
  for (const KernelOption& option : request.options) kernels.push_back({&option, nullptr, nullptr});
  AICF_ASSIGN_OR_RETURN(const schema::Contents contents,
                        tune::MakeBenchProgram(*request.problem, kernels, spec_));
  AICF_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, schema::Serialize(contents));
  AICF_ASSIGN_OR_RETURN(std::unique_ptr<CpuBench> bench,
                        CpuBench::Make(request, bytes, workers_->context(), flush_));
  return std::unique_ptr<tune::Bench>(std::move(bench));
}

}  // namespace aicf::tools
