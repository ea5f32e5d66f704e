/// The order in which a convolution's constant weights are stored for CUDA kernels.
#pragma once

#include <string>
#include <vector>

#include "kernels/abi/problem.h"
#include "schema/decision.h"

namespace aicf {

struct WeightOrder {
  Dims axes;           ///< of the weights, from the outermost to the innermost
  std::string suffix;  ///< of the stored constant's name
  std::string name;    ///< the decision's choice
  Reason reason = Reason::kRule;
  std::string why;
  std::vector<Alternative> alternatives;
};

/// Output channels innermost; or input channels innermost where the step multiplies tf32 and a
/// kernel for that takes no other order (cuda.conv.hopper). REQUIRES: `problem` is a convolution.
WeightOrder ChooseWeightOrder(const abi::Problem& problem, const abi::DeviceSpec& device);

}  // namespace aicf
