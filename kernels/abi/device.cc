// The machines plans are made for. Rates are for predictions only: an error here costs speed, never
// correctness. H200: measured ceilings; CPU: per core at about 2.7 GHz.
#include <thread>

#include "kernels/abi/kernel.h"

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

DeviceSpec HopperSpec() {
  DeviceSpec d;
  d.backend = Backend::kCuda;
  d.name = "cuda:sm_90a";
  d.sm = 90;
  d.sm_count = 132;
  d.max_shared_bytes = 227 * 1024;
  d.bytes_per_us = 4.2e6;
  d.fp32_flops_per_us = 50e6;
  d.tensor_flops_per_us = 650e6;
  d.launch_us = 1.0;
  return d;
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
    if (target == StrCat("cpu:", kIsaNames[static_cast<int>(isa)])) return CpuSpec(isa);
  }
  if (target == "cuda" || target == "cuda:sm_90a") return HopperSpec();
  return Error(Code::kUnsupported, "target '", target,
               "' is unknown; known: cpu (this machine), cpu:baseline, cpu:avx2, cpu:avx512, "
               "cuda:sm_90a (H100, H200)");
}

}  // namespace aicf::abi
