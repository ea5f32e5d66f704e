#include "kernels/cuda/common/map_choice.h"
#include "kernels/cuda/resize/hosts.h"

namespace aicf::cuda {

template <>
std::vector<abi::Candidate> CandidatesFor<ResizeTapsHost>(const abi::Problem& p,
                                                          const abi::DeviceSpec& d) {
  return PointChoice<ResizeTapsHost, 0.05>(p, d);
}

}  // namespace aicf::cuda
