#include "kernels/cuda/common/map_choice.h"
#include "kernels/cuda/pool/hosts.h"

namespace aicf::cuda {
namespace {

using abi::Candidate;
using abi::DeviceSpec;
using abi::Problem;

// Whether a thread computes a whole vector of results, which it does only along the channels.
bool AlongChannels(const Problem& p, int64_t vector) {
  const Dims inner = SpacesOf(PoolWindowHost::kKey, p).output.groups[0];
  return !inner.empty() && inner.back() == 1 && p.inputs[0].strides[1] == 1 &&
         p.outputs[0].shape[1] % vector == 0;
}

}  // namespace

template <>
std::vector<Candidate> CandidatesFor<PoolWindowHost>(const Problem& p, const DeviceSpec& d) {
  const int64_t vector = PreferredVector(PoolWindowHost::kKey, p, d.sm_count);
  const int64_t taken = AlongChannels(p, vector) ? vector : 1;
  return VectorCandidates<PoolWindowHost>(p, vector, taken, MapUs(p, d, 0.1));
}

}  // namespace aicf::cuda
