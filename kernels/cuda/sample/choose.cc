#include "kernels/cuda/common/map_choice.h"
#include "kernels/cuda/sample/hosts.h"

namespace aicf::cuda {
namespace {

using abi::Candidate;
using abi::DeviceSpec;
using abi::Problem;

std::vector<Candidate> Choose(const Problem& p, const DeviceSpec& d) {
  return PointCandidates<SampleTapsHost>(p, MapUs(p, d, 0.05));
}

}  // namespace
}  // namespace aicf::cuda

namespace aicf::abi {

template <>
std::span<const ChoiceRow> CudaChoices<Family::kSample>() {
  static const ChoiceRow rows[] = {{cuda::SampleTapsHost::kKey, &cuda::Choose}};
  return rows;
}

}  // namespace aicf::abi
