// The GPUs of cuda_targets.def as text and as specs.
#include "kernels/abi/device.h"

namespace aicf::abi {
namespace {

constexpr CudaTarget kTargets[] = {
#define AICF_CUDA_TARGET(...) {__VA_ARGS__},
#include "kernels/abi/cuda_targets.def"
#undef AICF_CUDA_TARGET
};

std::string YesNo(bool value) { return value ? "yes" : "no"; }

std::string ClusterText(int blocks) { return blocks == 1 ? "none" : std::to_string(blocks); }

// "154.8", "312": at most one digit behind the point.
std::string Decimal(double value) {
  const auto tenths = static_cast<int64_t>(value * 10 + 0.5);
  const std::string whole = std::to_string(tenths / 10);
  return tenths % 10 == 0 ? whole : StrCat(whole, ".", tenths % 10);
}

std::string Row(const CudaTarget& t) {
  std::string line = StrCat("| `cuda:", t.arch, "` | ", t.model, " | ", YesNo(t.measured), " | ");
  line += StrCat(t.sm_count, " | ", t.clock_mhz, " | ", t.threads_per_sm, " | ");
  line += StrCat(t.shared_per_block_kib, " / ", t.shared_per_sm_kib, " | ", t.l2_mib, " | ");
  line += StrCat(ClusterText(t.max_cluster), " | ", YesNo(t.programmatic), " | ");
  line += StrCat(YesNo(t.warpgroup_products), " | ", Decimal(t.gbytes_per_s), " | ");
  line += StrCat(Decimal(t.fp32_tflops), " | ", Decimal(t.fp16_tflops), " | ");
  return line + StrCat(Decimal(t.tf32_tflops), " |\n");
}

}  // namespace

std::span<const CudaTarget> CudaTargets() { return kTargets; }

std::string CudaTargetsMarkdown() {
  std::string out =
      "| target | GPU | run on one | SMs | MHz | threads per SM | shared KiB per block / SM | L2 "
      "MiB "
      "| blocks per cluster | programmatic launch | wgmma | GB/s | fp32 TFLOP/s | fp16, bf16 | "
      "tf32 "
      "|\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const CudaTarget& t : kTargets) out += Row(t);
  return out;
}

}  // namespace aicf::abi
