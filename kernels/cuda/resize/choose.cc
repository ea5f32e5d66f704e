#include "kernels/cuda/common/map_choice.h"
#include "kernels/cuda/resize/hosts.h"

namespace aicf::cuda {
namespace {

using abi::Candidate;
using abi::DeviceSpec;
using abi::Problem;

std::vector<Candidate> Choose(const Problem& p, const DeviceSpec& d) {
  return PointCandidates<ResizeTapsHost>(p, MapUs(p, d, 0.05));
}

}  // namespace
}  // namespace aicf::cuda

namespace aicf::abi {

template <>
std::span<const ChoiceRow> CudaChoices<Family::kResize>() {
  static const ChoiceRow rows[] = {{cuda::ResizeTapsHost::kKey, &cuda::Choose}};
  return rows;
}

}  // namespace aicf::abi
