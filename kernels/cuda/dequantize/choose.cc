#include "kernels/cuda/common/map_choice.h"
#include "kernels/cuda/dequantize/hosts.h"

namespace aicf::cuda {

// A run of results decodes its scale once, however the results are stored.
template <>
std::vector<abi::Candidate> CandidatesFor<DequantizeMapHost>(const abi::Problem& p,
                                                             const abi::DeviceSpec& d) {
  const int64_t vector = PreferredVector(DequantizeMapHost::kKey, p, d.sm_count);
  const bool whole = p.outputs[0].shape.back() % vector == 0;
  return VectorCandidates<DequantizeMapHost>(p, vector, whole ? vector : 1, MapUs(p, d, 0.1));
}

}  // namespace aicf::cuda
