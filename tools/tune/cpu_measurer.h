/// Times kernels on this machine's CPU, with as many threads as a session has by default, on packed
/// weights and through the runtime's own step table.
///
/// Cold (the default): before every sample all threads together read other memory, as much as the
/// last-level cache (between 8 and 32 MiB) and all threads' second-level caches hold, to evict the
/// operands. Warm: each sample is the second of two runs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/tune/measurer.h"
#include "runtime/cpu/memory.h"
#include "runtime/cpu/workers.h"
#include "tools/tune/cuda_measurer.h"

namespace aicf::tools {

/// "Intel(R) Xeon(R) CPU @ 2.60GHz, 2 threads": the device name under which a timing cache keeps
/// CPU times.
std::string CpuName(int threads);

class CpuMeasurer final : public tune::Measurer {
 public:
  explicit CpuMeasurer(StopwatchOptions options) : options_(std::move(options)) {}

  /// Errors: kDevice when this CPU lacks the target's instructions; kResource.
  Result<tune::DeviceId> Open(const abi::DeviceSpec& device) override;
  std::string VersionOf(const abi::KernelInfo& kernel) override;
  Status Prepare(std::span<const tune::BenchRequest> requests) override;
  Result<std::unique_ptr<tune::Bench>> Make(size_t index) override;
  /// No batch is too large, because nothing has to be compiled.
  int BatchSize() const override { return 1 << 20; }

 private:
  StopwatchOptions options_;
  abi::DeviceSpec spec_;
  std::unique_ptr<Workers> workers_;
  HostMemory flush_;
  std::vector<tune::BenchRequest> requests_;
};

}  // namespace aicf::tools
