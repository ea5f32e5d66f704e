/// Which products of a program can multiply 8-bit codes, and what they become.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/lowered.h"
#include "compiler/passes/quantize/code.h"
#include "compiler/passes/quantize/weights.h"
#include "kernels/abi/device.h"

namespace aicf::quantize {

/// Whether the step is a gemm or a conv whose operands are f32, f16 or bf16: it might multiply
/// codes.
bool IsFloatProduct(const ir::LoweredStep& step);

/// Empty, or "rule: why" the product stays as it is, whatever the samples and the target are.
std::string RefuseProduct(const ir::Lowered& lowered, int step);

/// Whether the product can take a zero point of operand 0 off its sums. It must have no padding,
/// because padded elements are zeros and not zero points, and one matrix for all batches.
bool TakesZeroPoint(const abi::Problem& problem);

/// The products of a program that may multiply codes, and what may be assumed of their operand 0.
struct Products {
  explicit Products(const ir::Lowered& lowered);

  std::vector<std::string> refusals;  ///< by step; of products only
  std::vector<int> steps;             ///< those that may multiply codes, ascending
  std::vector<ir::BufferId> values;   ///< their operands 0, each once, in the order of the steps
  /// By buffer; what CodeOf may assume of it.
  CodeRules RulesOf(ir::BufferId value, DType precision) const;
  /// Whether all products of the value are depthwise: each output channel has one input channel.
  bool IsDepthwise(ir::BufferId value) const { return depthwise_[value]; }

 private:
  void AddReader(const abi::Problem& problem, ir::BufferId value, int64_t elements);

  std::vector<bool> never_negative_, takes_zero_, depthwise_;
  std::vector<std::optional<Channels>> channels_;  ///< by buffer
};

/// The product with operand 0 as codes and operand 1 as `weights`. Its new epilogue takes off the
/// zero point, multiplies the sums by the scales, and then does what the old epilogue did.
/// Constants with one element per output channel become its last operands; their data are appended
/// to `extras`.
abi::Problem QuantizedProblem(const abi::Problem& problem, const ValueCode& code,
                              const QuantizedWeights& weights, std::vector<ir::Tensor>* extras);

/// Empty, or "capability: why" none of the device's kernels takes the product of codes, although
/// one takes the product as it was. On a CPU float8 is never refused, because the reference kernel
/// takes it.
std::string RefuseOnDevice(const abi::Problem& before, const abi::Problem& after,
                           const abi::DeviceSpec& device);

}  // namespace aicf::quantize
