/// The order in which the constant weights of products are stored for CUDA kernels.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/passes/pass.h"

namespace aicf {

struct WeightOrder {
  Dims axes;           ///< of the weights, from the outermost to the innermost
  std::string suffix;  ///< of the stored constant's name
  std::string name;    ///< the decision's choice
  Reason reason = Reason::kRule;
  double cost_us = -1;  ///< predicted for the step with this order; -1: not asked
  std::string why;
  std::vector<Alternative> alternatives;
};

/// The weights of a convolution get their output channels innermost, or their input channels in two
/// cases: where the step multiplies tf32 or operands of 8 bits, for which a kernel
/// (cuda.conv.hopper) takes no other order; and where it sums many products of 16 bits and that
/// kernel's tiles of 96 or 160 columns divide the output channels. The weights of a matrix product
/// have k innermost in the same two cases (cuda.gemm.hopper), and where a kernel for few rows
/// (cuda.gemm.gemv, stream and stream_rows) is predicted to be faster with this order than any
/// kernel without it; otherwise the result is nullopt, and they stay as they are. `alone`:
/// whether no other step or entry point reads the weights. Otherwise the number of rows decides
/// nothing, because an order for each reader would store the weights more than once. REQUIRES:
/// `problem` is a convolution or a product whose input 1 is dense weights, and has the dtypes that
/// the step will have.
std::optional<WeightOrder> ChooseWeightOrder(const abi::Problem& problem,
                                             const abi::DeviceSpec& device, bool alone);

/// The problem with its weights in that order, where no other step reads them. REQUIRES: as above.
abi::Problem WithStoredWeights(abi::Problem problem, const PassContext& context);

}  // namespace aicf
