#include "kernels/cpu/common/choice.h"
#include "kernels/cpu/gemm/gemm_host.h"

namespace aicf::abi {

template <>
std::span<const ChoiceRow> CpuChoices<Family::kGemm>() {
  using enum CpuIsa;
  using namespace cpu;  // NOLINT(google-build-using-namespace): the rows name host functions there
  static const ChoiceRow rows[] = {
#define AICF_CPU_KERNEL(key, host, function) CostChoice<host>(key),
#include "kernels/cpu/gemm/list.inc"
#undef AICF_CPU_KERNEL
  };
  return rows;
}

}  // namespace aicf::abi
