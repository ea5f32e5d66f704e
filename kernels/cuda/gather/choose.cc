#include "kernels/cuda/common/map_choice.h"
#include "kernels/cuda/gather/hosts.h"

namespace aicf::cuda {
namespace {

using abi::Candidate;
using abi::DeviceSpec;
using abi::Problem;

std::vector<Candidate> Choose(const Problem& p, const DeviceSpec& d) {
  const int64_t vector = PreferredVector(GatherMapHost::kKey, p, d.sm_count);
  return VectorCandidates<GatherMapHost>(p, vector, 1, MapUs(p, d, 0.1));
}

}  // namespace
}  // namespace aicf::cuda

namespace aicf::abi {

template <>
std::span<const ChoiceRow> CudaChoices<Family::kGather>() {
  static const ChoiceRow rows[] = {{cuda::GatherMapHost::kKey, &cuda::Choose}};
  return rows;
}

}  // namespace aicf::abi
