/// Many cases on the GPU: all instances compiled in parallel first, then run one after the other
/// and compared with the reference kernels.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/codegen/images.h"
#include "tests/conformance/cases.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/gpu.h"
#include "tests/conformance/gpu_memory.h"
#include "tests/conformance/options.h"

namespace aicf::conformance {

struct Job {
  std::shared_ptr<const Case> item;
  KernelOption option;
  Buffers got;          ///< buffers after the run
  double mean_us = 0;   ///< filled when Options::times > 1
  std::string failure;  ///< compile, launch or comparison; empty when all is well
};

class JobRunner {
 public:
  /// Errors: kDevice when there is no GPU or no NVRTC; its message is what a test is skipped with.
  static Result<std::unique_ptr<JobRunner>> Make();

  const abi::DeviceSpec& device() const { return device_; }
  Gpu& gpu() { return *gpu_; }

  struct Options {
    bool compare = true;  ///< with the reference kernel
    int times = 1;
    bool early = false;  ///< launches overlap with the one before (Gpu::Run)
    /// Buffers that lie where others do: the number of an output's buffer, and that of an input's.
    std::vector<std::pair<size_t, size_t>> in_place = {};
  };
  /// Runs every job. Failures are in the jobs.
  void Run(std::vector<Job>& jobs, const Options& options);

  /// VariantsOf (gpu_cases.h) on device().
  std::vector<KernelOption> Variants(const Case& c, size_t most, size_t turn) const;

 private:
  JobRunner() = default;
  Status RunOne(Job& job, const CompiledImage& image, const Options& options);

  std::shared_ptr<Gpu> gpu_;
  abi::DeviceSpec device_;
  GpuMemory memory_;
};

/// Calls f(i) for i in [0, count) on all cores.
void OnAllCores(size_t count, const std::function<void(size_t)>& f);

}  // namespace aicf::conformance
