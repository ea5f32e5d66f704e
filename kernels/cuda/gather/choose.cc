#include "kernels/cuda/common/map_choice.h"
#include "kernels/cuda/gather/hosts.h"

namespace aicf::cuda {

using abi::Candidate;
using abi::DeviceSpec;
using abi::Problem;

template <>
std::vector<Candidate> CandidatesFor<GatherMapHost>(const Problem& p, const DeviceSpec& d) {
  const int64_t vector = PreferredVector(GatherMapHost::kKey, p, d.sm_count);
  return VectorCandidates<GatherMapHost>(p, vector, 1, MapUs(p, d, 0.1));
}

}  // namespace aicf::cuda
