#include "kernels/cuda/common/map_choice.h"
#include "kernels/cuda/sample/hosts.h"

namespace aicf::cuda {

template <>
std::vector<abi::Candidate> CandidatesFor<SampleTapsHost>(const abi::Problem& p,
                                                          const abi::DeviceSpec& d) {
  return PointChoice<SampleTapsHost, 0.05>(p, d);
}

}  // namespace aicf::cuda
