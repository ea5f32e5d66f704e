/// The machines that plans are made for: what a step may use on each, and the rates with which
/// times are predicted.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace aicf::abi {

enum class Backend : uint8_t {
  kCpu,      ///< "cpu.*": C++ linked into the runtime
  kCuda,     ///< "cuda.*": an image in the artifact; the symbol is checked by IsInstanceSymbol
  kLibrary,  ///< "cublaslt.*": a vendor library opened by name when the artifact names it
};

enum class CpuIsa : uint8_t {
  kBaseline,
  kAvx2,
  kAvx512
};  ///< x86-64, +avx2+fma+f16c, +avx512 f/bw/dq/vl

/// The machine a plan is made for. What a kernel may do there (shared memory, clusters,
/// programmatic launches, warpgroup products) follows from these fields alone. Rates are for
/// predictions: an error in them costs speed, never correctness. All CUDA targets have asynchronous
/// copies to shared memory and mma.sync for tf32, fp16 and bf16, since they are sm_80 or later.
struct DeviceSpec {
  Backend backend = Backend::kCpu;  ///< kCpu or kCuda
  std::string name = "cpu";         ///< text of --target: "cpu:avx512", "cuda:sm_90a"
  CpuIsa isa = CpuIsa::kBaseline;
  int threads = 1;  ///< CPU threads the plan is made for

  int sm = 0;  ///< compute capability: 90 for sm_90a
  int sm_count = 0;
  int threads_per_sm = 0;           ///< most threads resident on one multiprocessor
  int max_shared_bytes = 0;         ///< opt-in limit per block
  int shared_bytes_per_sm = 0;      ///< for all blocks resident on one multiprocessor
  int max_cluster = 1;              ///< most blocks of a cluster; 1: there are no clusters
  bool programmatic = false;        ///< a kernel may start before its predecessor has finished
  bool warpgroup_products = false;  ///< wgmma, and bulk tensor copies to feed it

  double bytes_per_us = 0;  ///< memory bandwidth
  double fp32_flops_per_us = 0;
  double tensor_flops_per_us = 0;  ///< fp16 and bf16 on tensor cores; 0: there are none
  double tf32_flops_per_us = 0;    ///< tf32 on tensor cores; 0: there are none
  double launch_us = 0;            ///< fixed cost of one step
};

/// Specs by target name: "cpu" (this machine), "cpu:baseline", "cpu:avx2", "cpu:avx512", "cuda"
/// (which is "cuda:sm_90a"), and "cuda:ARCH" for the architectures of cuda_targets.def. Errors:
/// kUnsupported naming the targets that exist.
Result<DeviceSpec> FindDevice(std::string_view target);
/// Best instruction set of the running machine.
CpuIsa HostIsa();

/// One row of cuda_targets.def: a GPU with the vendor's figures.
struct CudaTarget {
  std::string_view arch;   ///< "sm_90a", as NVRTC takes it
  std::string_view model;  ///< the GPU that stands for the architecture
  int sm;
  bool measured;  ///< whether artifacts have run on a GPU of this architecture
  int sm_count, clock_mhz, threads_per_sm, shared_per_block_kib, shared_per_sm_kib, l2_mib;
  int max_cluster;
  bool programmatic, warpgroup_products;
  double gbytes_per_s, fp32_tflops, fp16_tflops, tf32_tflops;  ///< without sparsity, sums in f32
};
std::span<const CudaTarget> CudaTargets();
/// The rows as a Markdown table.
std::string CudaTargetsMarkdown();

}  // namespace aicf::abi
