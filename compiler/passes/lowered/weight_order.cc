#include "compiler/passes/lowered/weight_order.h"

#include "compiler/ir/views.h"
#include "kernels/abi/kernel.h"

namespace aicf {
namespace {

using abi::Problem;

// Weights are [out, in, taps..], or transposed [in, out, taps..].
Dims OutputsLast(const Problem& p) {
  const bool transposed = p.as<abi::ConvAttrs>().transposed;
  Dims order;
  for (int i = 2; i < p.inputs[1].shape.rank(); ++i) order.push_back(i);
  order.push_back(transposed ? 0 : 1);
  order.push_back(transposed ? 1 : 0);
  return order;
}

Dims InputsLast(const Problem& p) {
  Dims order = {0};
  for (int i = 2; i < p.inputs[1].shape.rank(); ++i) order.push_back(i);
  order.push_back(1);
  return order;
}

// Tensor cores of Hopper read 32-bit operands along the sum only; of 16-bit ones they read both
// orders.
bool HasTwoOrders(const Problem& p) {
  const auto& a = p.as<abi::ConvAttrs>();
  return p.math == abi::MathMode::kTf32 && p.inputs[0].dtype == DType::kF32 &&
         p.inputs[1].dtype == DType::kF32 && !a.transposed && a.group == 1;
}

// The first kernel that takes the weights in the order `axes` alone, not in `other`; empty: none.
std::string_view KernelOf(Problem p, const Dims& axes, const Dims& other,
                          const abi::DeviceSpec& device) {
  const Dims shape = p.inputs[1].shape;
  for (const abi::KernelInfo& kernel : abi::KernelsOf(p.family)) {
    if (kernel.backend != device.backend) continue;
    p.inputs[1].strides = ir::StridesInOrder(shape, other);
    if (kernel.supports(p, device).empty()) continue;
    p.inputs[1].strides = ir::StridesInOrder(shape, axes);
    if (kernel.supports(p, device).empty()) return kernel.key;
  }
  return {};
}

WeightOrder ByRule(Dims axes) {
  return {std::move(axes),
          " outputs last",
          "output channels innermost",
          Reason::kRule,
          "neighbouring threads compute neighbouring output channels",
          {{"model order", "cost: neighbouring threads would read far apart", -1}}};
}

}  // namespace

WeightOrder ChooseWeightOrder(const Problem& problem, const abi::DeviceSpec& device) {
  WeightOrder outputs = ByRule(OutputsLast(problem));
  if (!HasTwoOrders(problem)) return outputs;
  const Dims inputs = InputsLast(problem);
  const std::string_view kernel = KernelOf(problem, inputs, outputs.axes, device);
  if (kernel.empty()) return outputs;
  const std::string why =
      StrCat("capability: ", kernel, " reads 32-bit weights along the sum alone");
  return {inputs,
          " inputs last",
          "input channels innermost",
          Reason::kRule,
          "what tensor cores of Hopper read",
          {{outputs.name, why, -1}}};
}

}  // namespace aicf
