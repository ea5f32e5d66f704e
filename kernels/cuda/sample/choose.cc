#include "kernels/cuda/common/map_choice.h"
#include "kernels/cuda/sample/hosts.h"

namespace aicf::abi {

template <>
std::span<const ChoiceRow> CudaChoices<Family::kSample>() {
  using cuda::SampleTapsHost;
  static const ChoiceRow rows[] = {
      {SampleTapsHost::kKey, &cuda::PointChoice<SampleTapsHost, 0.05>}};
  return rows;
}

}  // namespace aicf::abi
