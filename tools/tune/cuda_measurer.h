/// Times kernels on a CUDA GPU.
///
/// A sample is the time that a program's own launch takes on the device: the runtime's launch
/// object is enqueued between two events, into a stream that is still busy, so that the host's time
/// is not included. The time between the events also includes the start of one kernel after
/// another, about a microsecond; nothing is subtracted for it.
///
/// Cold (the default): before every sample a buffer of twice the L2 cache's size is overwritten, so
/// no operand is cached. Warm: the mean over a captured graph of ten runs. That is what the replay
/// of a small model finds, whose weights and activations all stay in the L2 cache.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/codegen/images.h"
#include "compiler/tune/measurer.h"
#include "runtime/cuda/cublaslt.h"
#include "runtime/cuda/handles.h"

namespace aicf::tools {

struct StopwatchOptions {
  bool warm = false;                  ///< operands in the caches, as the run before left them
  std::string kernel_cache_dir = {};  ///< as CompileOptions::kernel_cache_dir
  std::function<void(std::string_view phase, int done, int total)> progress = {};
};

/// No device is touched before Open. Not thread-safe.
class CudaMeasurer final : public tune::Measurer {
 public:
  /// `driver` lets tests supply one; nullptr stands for this machine's.
  explicit CudaMeasurer(StopwatchOptions options, cuda::Driver* driver = nullptr)
      : options_(std::move(options)), driver_(driver) {}
  ~CudaMeasurer() override;

  /// Opens the first GPU that has exactly the target's architecture. Errors: kDevice without
  /// driver, GPU or NVRTC.
  Result<tune::DeviceId> Open(const abi::DeviceSpec& device) override;
  std::string VersionOf(const abi::KernelInfo& kernel) override;
  /// Compiles the requests' device code on all cores.
  Status Prepare(std::span<const tune::BenchRequest> requests) override;
  Result<std::unique_ptr<tune::Bench>> Make(size_t index) override;
  int BatchSize() const override;

 private:
  Status FindGpu(int sm);
  Status PrepareFlush();

  StopwatchOptions options_;
  cuda::Driver* driver_;
  abi::DeviceSpec spec_;
  std::shared_ptr<const cuda::Device> gpu_;
  std::string nvrtc_version_;
  std::unique_ptr<cuda::CublasLt> lt_;  ///< nullptr: not on this machine, so it is not timed
  cuda::DeviceMemory flush_;
  uint64_t flush_bytes_ = 0;
  std::vector<tune::BenchRequest> requests_;
  CompiledImages images_;
  std::vector<std::vector<int>> image_of_;  ///< by request and option; -1: a library's kernel
};

}  // namespace aicf::tools
