#include "kernels/cuda/common/map_choice.h"
#include "kernels/cuda/resize/hosts.h"

namespace aicf::abi {

template <>
std::span<const ChoiceRow> CudaChoices<Family::kResize>() {
  using cuda::ResizeTapsHost;
  static const ChoiceRow rows[] = {
      {ResizeTapsHost::kKey, &cuda::PointChoice<ResizeTapsHost, 0.05>}};
  return rows;
}

}  // namespace aicf::abi
