/// The constant operands of products as 8-bit codes, with a scale for every output channel.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/lowered.h"
#include "compiler/ir/tensor.h"

namespace aicf::quantize {

struct QuantizedWeights {
  ir::Tensor codes;           ///< of the whole constant; elements that the product skips are 0
  std::vector<float> scales;  ///< by output channel
  std::vector<int32_t> sums;  ///< by output channel: of its codes; empty for float8. REQUIRES:
                              ///< HasOneMatrix
  bool per_channel = true;    ///< false: channels share elements, so all have one scale
};

/// Output channels of a gemm or conv, and along which axis of its output they lie.
int64_t OutputChannels(const abi::Problem& problem);
int ChannelAxis(const abi::Problem& problem);

/// Whether all batches of a gemm multiply by the same matrix; true for a conv.
bool HasOneMatrix(const abi::Problem& problem);

/// Whether the product reads no element of the weights in two roles, so that each has one input
/// channel.
bool HasOwnChannels(const abi::Problem& problem);
/// By input channel of operand 0: the largest magnitude of the weights that it is multiplied by.
/// REQUIRES: HasOwnChannels.
std::vector<double> LargestByInput(const abi::Problem& problem, const ir::Tensor& weights);

/// Quantises operand 1 of a gemm or a conv, a constant of f32, f16 or bf16 with finite elements.
/// `to`: kI8 or kF8E4M3FN. `factors`: by input channel, what the weights are multiplied by first;
/// empty: nothing. REQUIRES: `factors` is empty unless HasOwnChannels. Cost: a few passes over the
/// elements.
QuantizedWeights QuantizeWeights(const abi::Problem& problem, const ir::Tensor& weights, DType to,
                                 const std::vector<float>& factors);

/// The numbers that the codes stand for, as an f32 constant.
ir::Tensor RoundedWeights(const abi::Problem& problem, const QuantizedWeights& weights);

}  // namespace aicf::quantize
