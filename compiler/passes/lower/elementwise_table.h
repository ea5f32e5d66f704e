/// Graph ops as expressions: one row per op.
#pragma once

#include <span>
#include <string_view>

#include "compiler/ir/graph.h"
#include "kernels/abi/expr.h"

namespace aicf {

/// What a row's builder sees: the node's operands as expression nodes.
struct ElementwiseArgs {
  const ir::Node& node;
  abi::ExprBuilder& b;
  std::span<const uint16_t> in;  ///< kAbsent for an input that the node leaves out
  DType out;                     ///< storage dtype of the result

  static constexpr uint16_t kAbsent = 0xffff;

  bool has(size_t i) const { return i < in.size() && in[i] != kAbsent; }
  DType dtype() const { return b.dtype(in[0]); }
  /// A constant of the first operand's dtype.
  uint16_t Const(double value) const { return b.Const(value, dtype()); }
};

/// The value of the node, of dtype ComputeDType(args.out).
using BuildElementwise = uint16_t (*)(const ElementwiseArgs& args);

/// nullptr for an op that is not elementwise.
BuildElementwise FindElementwise(std::string_view op);

/// Row builders that need more than a line (elementwise_builders.cc).
uint16_t BuildBitShift(const ElementwiseArgs& a);
uint16_t BuildCast(const ElementwiseArgs& a);
uint16_t BuildCelu(const ElementwiseArgs& a);
uint16_t BuildClip(const ElementwiseArgs& a);
uint16_t BuildElu(const ElementwiseArgs& a);
uint16_t BuildGelu(const ElementwiseArgs& a);
uint16_t BuildHardSigmoid(const ElementwiseArgs& a);
uint16_t BuildHardSwish(const ElementwiseArgs& a);
uint16_t BuildIsInf(const ElementwiseArgs& a);
uint16_t BuildLeakyRelu(const ElementwiseArgs& a);
uint16_t BuildMean(const ElementwiseArgs& a);
uint16_t BuildMish(const ElementwiseArgs& a);
uint16_t BuildPow(const ElementwiseArgs& a);
uint16_t BuildPRelu(const ElementwiseArgs& a);
uint16_t BuildSelu(const ElementwiseArgs& a);
uint16_t BuildShrink(const ElementwiseArgs& a);
uint16_t BuildSoftsign(const ElementwiseArgs& a);
uint16_t BuildSwiGLU(const ElementwiseArgs& a);
uint16_t BuildSwish(const ElementwiseArgs& a);
uint16_t BuildThresholdedRelu(const ElementwiseArgs& a);

/// How a value that float8 cannot hold becomes one; attributes of ONNX's Cast.
struct Float8Rounding {
  bool saturate = true;               ///< beyond the largest: the largest, else infinity or NaN
  std::string_view mode = "nearest";  ///< "up", "down", "nearest": f8e8m0 only
};
/// What a store into `to`, a float8 or float4, rounds to the value asked for.
uint16_t PrepareFloat8(abi::ExprBuilder& b, uint16_t a, DType to, const Float8Rounding& how);

}  // namespace aicf
