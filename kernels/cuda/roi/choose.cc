#include "kernels/cuda/common/map_choice.h"
#include "kernels/cuda/roi/hosts.h"

namespace aicf::cuda {

template <>
std::vector<abi::Candidate> CandidatesFor<RoiBinsHost>(const abi::Problem& p,
                                                       const abi::DeviceSpec& d) {
  return PointChoice<RoiBinsHost, 0.02>(p, d);
}

}  // namespace aicf::cuda
