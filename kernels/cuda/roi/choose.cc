#include "kernels/cuda/common/map_choice.h"
#include "kernels/cuda/roi/hosts.h"

namespace aicf::abi {

template <>
std::span<const ChoiceRow> CudaChoices<Family::kRoi>() {
  using cuda::RoiBinsHost;
  static const ChoiceRow rows[] = {{RoiBinsHost::kKey, &cuda::PointChoice<RoiBinsHost, 0.02>}};
  return rows;
}

}  // namespace aicf::abi
