// The machines plans are made for. Rates of a CPU are per core at about 2.7 GHz.
#include "kernels/abi/device.h"

#include <cmath>

namespace aicf::abi {
namespace {

constexpr std::string_view kIsaNames[] = {"baseline", "avx2", "avx512"};

DeviceSpec CpuSpec(CpuIsa isa) {
  constexpr double kFlopsPerUs[] = {10e3, 70e3, 130e3};
  DeviceSpec d;
  d.backend = Backend::kCpu;
  d.name = StrCat("cpu:", kIsaNames[static_cast<int>(isa)]);
  d.isa = isa;
  d.bytes_per_us = 12e3;
  d.fp32_flops_per_us = kFlopsPerUs[static_cast<int>(isa)];
  d.launch_us = 0.3;
  return d;
}

// What an H200 was measured to reach of its data sheet's figures: 4.2 of 4.8 TB/s, and 50 of 67 and
// 650 of 989 TFLOP/s. The other GPUs, which were never measured, are taken to reach the same
// shares.
constexpr double kBytesShare = 4.2 / 4.8, kFp32Share = 50.0 / 67, kTensorShare = 650.0 / 989;

DeviceSpec CudaSpec(const CudaTarget& t) {
  constexpr double kFlopsPerUs = 1e6;  // one TFLOP/s in operations per microsecond
  DeviceSpec d;
  d.backend = Backend::kCuda;
  d.name = StrCat("cuda:", t.arch);
  d.sm = t.sm;
  d.sm_count = t.sm_count;
  d.threads_per_sm = t.threads_per_sm;
  d.max_shared_bytes = t.shared_per_block_kib * 1024;
  d.shared_bytes_per_sm = t.shared_per_sm_kib * 1024;
  d.max_cluster = t.max_cluster;
  d.programmatic = t.programmatic;
  d.warpgroup_products = t.warpgroup_products;
  d.bytes_per_us = std::round(t.gbytes_per_s * 1e3 * kBytesShare);
  d.fp32_flops_per_us = std::round(t.fp32_tflops * kFlopsPerUs * kFp32Share);
  d.tensor_flops_per_us = std::round(t.fp16_tflops * kFlopsPerUs * kTensorShare);
  d.tf32_flops_per_us = std::round(t.tf32_tflops * kFlopsPerUs * kTensorShare);
  d.launch_us = 1.0;
  return d;
}

// text == first + second.
bool IsPair(std::string_view text, std::string_view first, std::string_view second) {
  return text.starts_with(first) && text.substr(first.size()) == second;
}

// "cuda:sm_80 (A100 80GB SXM), ...".
std::string CudaNames() {
  std::string names;
  for (const CudaTarget& t : CudaTargets()) {
    names += StrCat(names.empty() ? "" : ", ", "cuda:", t.arch, " (", t.model, ")");
  }
  return names;
}

}  // namespace

CpuIsa HostIsa() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return CpuIsa::kAvx512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi2")) {
    return CpuIsa::kAvx2;
  }
#endif
  return CpuIsa::kBaseline;
}

Result<DeviceSpec> FindDevice(std::string_view target) {
  if (target == "cpu") return CpuSpec(HostIsa());
  for (CpuIsa isa : {CpuIsa::kBaseline, CpuIsa::kAvx2, CpuIsa::kAvx512}) {
    if (IsPair(target, "cpu:", kIsaNames[static_cast<int>(isa)])) return CpuSpec(isa);
  }
  const std::string_view name = target == "cuda" ? "cuda:sm_90a" : target;
  for (const CudaTarget& t : CudaTargets()) {
    if (IsPair(name, "cuda:", t.arch)) return CudaSpec(t);
  }
  return Error(Code::kUnsupported, "target '", target,
               "' is unknown; known: cpu (this machine), cpu:baseline, cpu:avx2, cpu:avx512, ",
               "cuda (as cuda:sm_90a), ", CudaNames());
}

}  // namespace aicf::abi
