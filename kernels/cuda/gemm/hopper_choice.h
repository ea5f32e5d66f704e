/// Candidates of cuda.gemm.hopper: the rows of hopper.def.
#pragma once

#include <vector>

#include "kernels/abi/choice.h"

namespace aicf::cuda {

std::vector<abi::Candidate> ChooseHopper(const abi::Problem& problem,
                                         const abi::DeviceSpec& device);

}  // namespace aicf::cuda
