/// All kernels for one problem on a CUDA GPU, ready to be timed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "aicf/aicf.h"
#include "compiler/tune/measurer.h"
#include "runtime/cuda/device_program.h"
#include "runtime/cuda/handles.h"
#include "runtime/cuda/launch.h"

namespace aicf::tools {

/// A kernel of the request: its step in the bench's program, or the reason why it has none.
struct BenchEntry {
  int step = -1;
  std::string refusal;
  LibraryAlgorithm algorithm;
};

/// What all benches of a GPU share. The memory and the driver in it outlive the benches.
struct CudaSurroundings {
  std::shared_ptr<const cuda::Device> gpu;
  cuda::Driver* driver = nullptr;
  cuda::CUdeviceptr flush = 0;
  uint64_t flush_bytes = 0;
  bool warm = false;
};

class CudaBench final : public tune::Bench {
 public:
  /// Uploads operands for the problem and runs every kernel once. `program` is one that
  /// MakeBenchProgram made. Errors: kResource when it does not fit into memory; kDevice.
  static Result<std::unique_ptr<CudaBench>> Make(std::shared_ptr<const Program> program,
                                                 const abi::Problem& problem,
                                                 std::vector<BenchEntry> entries,
                                                 const CudaSurroundings& around);

  std::string Refusal(size_t kernel) const override { return entries_[kernel].refusal; }
  Result<double> Sample(size_t kernel) override;
  LibraryAlgorithm Algorithm(size_t kernel) const override { return entries_[kernel].algorithm; }

 private:
  CudaBench(std::vector<BenchEntry> entries, const CudaSurroundings& around)
      : entries_(std::move(entries)), around_(around) {}
  Status Load(std::shared_ptr<const Program> program, const abi::Problem& problem);
  Status FillInputs(const schema::Program& plan, const abi::Problem& problem,
                    const cuda::AddressMap& addresses);
  Status DryRun();
  Status CaptureGraphs();
  Status EnqueueCold(const cuda::Launch& launch);
  Status EnqueueWarm(const cuda::GraphExec& graph);

  const std::vector<BenchEntry> entries_;
  const CudaSurroundings around_;
  // Each member may use those above it, and members are destroyed from the last to the first.
  std::shared_ptr<const cuda::DeviceProgram> shared_;
  cuda::DeviceMemory arena_;
  cuda::Stream stream_;
  cuda::Event begin_, end_;
  std::vector<std::unique_ptr<cuda::Launch>> launches_;  ///< by step
  std::vector<cuda::GraphExec> graphs_;                  ///< by step; empty unless warm
};

}  // namespace aicf::tools
