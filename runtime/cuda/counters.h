/// Calls made through a driver table, one counter per function: tests assert from them that a
/// replay is one graph launch and no allocation. Nothing reaches the driver without being counted.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace aicf::cuda {

enum class Fn : uint8_t {
#define AICF_CUDA_FN(name, symbol, params) k##name,
#include "runtime/cuda/driver_functions.def"
#undef AICF_CUDA_FN
  kCount,
};

class Counters {
 public:
  void Count(Fn fn) { calls_[static_cast<size_t>(fn)].fetch_add(1, std::memory_order_relaxed); }
  uint64_t calls(Fn fn) const {
    return calls_[static_cast<size_t>(fn)].load(std::memory_order_relaxed);
  }
  uint64_t graph_launches() const { return calls(Fn::kGraphLaunch); }
  uint64_t kernel_launches() const { return calls(Fn::kLaunchKernelEx); }
  /// Device and pinned host memory, and everything else that allocates in the driver.
  uint64_t allocations() const {
    return calls(Fn::kMemAlloc) + calls(Fn::kMemHostAlloc) + calls(Fn::kModuleLoadDataEx) +
           calls(Fn::kStreamCreate) + calls(Fn::kEventCreate) + calls(Fn::kGraphInstantiate);
  }

 private:
  std::array<std::atomic<uint64_t>, static_cast<size_t>(Fn::kCount)> calls_{};
};

}  // namespace aicf::cuda
