#include "kernels/cuda/common/map_choice.h"
#include "kernels/cuda/gather/hosts.h"

namespace aicf::cuda {

using abi::Candidate;
using abi::DeviceSpec;
using abi::Problem;

namespace {

// Whether rows are taken whole, so that a thread's neighbouring results are neighbours in the data:
// the output's last axis is the data's, and holds whole vectors.
bool TakesVectors(const Problem& p, int64_t vector) {
  const auto& a = p.as<abi::GatherAttrs>();
  const abi::View &data = p.inputs[0], &out = p.outputs[0];
  const int last = out.shape.rank() - 1, inner = data.shape.rank() - 1;
  if (a.kind != abi::GatherKind::kTake || inner <= a.axis) return false;
  return out.strides[last] == 1 && data.strides[inner] == 1 && out.shape[last] % vector == 0;
}

}  // namespace

template <>
std::vector<Candidate> CandidatesFor<GatherMapHost>(const Problem& p, const DeviceSpec& d) {
  const int64_t vector = PreferredVector(GatherMapHost::kKey, p, d.sm_count);
  const int64_t taken = TakesVectors(p, vector) ? vector : 1;
  return VectorCandidates<GatherMapHost>(p, vector, taken, MapUs(p, d, 0.1));
}

}  // namespace aicf::cuda
