#include "kernels/cpu/common/choice.h"
#include "kernels/cpu/recurrent/hosts.h"

namespace aicf::abi {

template <>
std::span<const ChoiceRow> CpuChoices<Family::kRecurrent>() {
  using enum CpuIsa;
  using namespace cpu;  // NOLINT(google-build-using-namespace): the rows name host functions there
  using namespace cpu::recurrent_hosts;  // NOLINT(google-build-using-namespace)
  static const ChoiceRow rows[] = {
#define AICF_CPU_KERNEL(key, host, function) CostChoice<host>(key),
#include "kernels/cpu/recurrent/list.inc"
#undef AICF_CPU_KERNEL
  };
  return rows;
}

}  // namespace aicf::abi
