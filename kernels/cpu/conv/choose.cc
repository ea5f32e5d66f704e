#include "kernels/cpu/common/choice.h"
#include "kernels/cpu/conv/host.h"

namespace aicf::abi {

template <>
std::span<const ChoiceRow> CpuChoices<Family::kConv>() {
  using enum CpuIsa;
  using namespace cpu;  // NOLINT(google-build-using-namespace): the rows name host functions there
  static const ChoiceRow rows[] = {
#define AICF_CPU_KERNEL(key, host, function) CostChoice<host>(key),
#include "kernels/cpu/conv/list.inc"
#undef AICF_CPU_KERNEL
  };
  return rows;
}

}  // namespace aicf::abi
