#include "kernels/cuda/blockgemm/hosts.h"
#include "kernels/cuda/common/tile_choice.h"

namespace aicf::cuda {

template <>
std::vector<abi::Candidate> CandidatesFor<BlockGemmTiledHost>(const abi::Problem& p,
                                                              const abi::DeviceSpec& d) {
  return TileCandidates<BlockGemmTiledHost, false>(p, d);
}

template <>
std::vector<abi::Candidate> CandidatesFor<BlockGemmTensorHost>(const abi::Problem& p,
                                                               const abi::DeviceSpec& d) {
  return TileCandidates<BlockGemmTensorHost, true>(p, d);
}

}  // namespace aicf::cuda
