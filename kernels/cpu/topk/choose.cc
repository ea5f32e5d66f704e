#include "kernels/cpu/common/choice.h"
#include "kernels/cpu/topk/hosts.h"

namespace aicf::abi {

template <>
std::span<const ChoiceRow> CpuChoices<Family::kTopK>() {
  using namespace cpu;  // NOLINT(google-build-using-namespace): the rows name host functions there
  using namespace cpu::topk_hosts;  // NOLINT(google-build-using-namespace)
  static const ChoiceRow rows[] = {
#define AICF_CPU_KERNEL(key, isa, host, function) RooflineChoice<host, isa>(key),
#include "kernels/cpu/topk/list.inc"
#undef AICF_CPU_KERNEL
  };
  return rows;
}

}  // namespace aicf::abi
