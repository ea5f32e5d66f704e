#include "kernels/cuda/common/map_choice.h"
#include "kernels/cuda/roi/hosts.h"

namespace aicf::cuda {
namespace {

using abi::Candidate;
using abi::DeviceSpec;
using abi::Problem;

std::vector<Candidate> Choose(const Problem& p, const DeviceSpec& d) {
  return PointCandidates<RoiBinsHost>(p, MapUs(p, d, 0.02));
}

}  // namespace
}  // namespace aicf::cuda

namespace aicf::abi {

template <>
std::span<const ChoiceRow> CudaChoices<Family::kRoi>() {
  static const ChoiceRow rows[] = {{cuda::RoiBinsHost::kKey, &cuda::Choose}};
  return rows;
}

}  // namespace aicf::abi
