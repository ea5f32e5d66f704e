#include "kernels/cpu/attention/hosts.h"
#include "kernels/cpu/common/choice.h"

namespace aicf::abi {

template <>
std::span<const ChoiceRow> CpuChoices<Family::kAttention>() {
  using enum CpuIsa;
  using namespace cpu;  // NOLINT(google-build-using-namespace): the rows name host functions there
  using namespace cpu::attention_hosts;  // NOLINT(google-build-using-namespace)
  static const ChoiceRow rows[] = {
#define AICF_CPU_KERNEL(key, host, function) CostChoice<host>(key),
#include "kernels/cpu/attention/list.inc"
#undef AICF_CPU_KERNEL
  };
  return rows;
}

}  // namespace aicf::abi
