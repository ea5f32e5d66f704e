/// An expression under construction together with the operands that it reads. Operands that name
/// the same elements share one input.
#pragma once

#include <vector>

#include "compiler/ir/lowered.h"
#include "compiler/passes/lower/lower.h"
#include "kernels/abi/expr.h"

namespace aicf {

class OperandExpr {
 public:
  /// The first `first_input` inputs of the expression are not operands. In an epilogue they are the
  /// raw results of the step, abi::RawInputs of them; otherwise `first_input` is 0.
  explicit OperandExpr(int first_input) : first_input_(first_input) {}

  abi::ExprBuilder& builder() { return builder_; }
  /// A raw result of the step. REQUIRES: `which` is below first_input.
  uint16_t Raw(DType dtype, int which = 0) {
    return builder_.Input(which, abi::ComputeDType(dtype));
  }
  /// The value of an operand at the current point.
  uint16_t Load(const ValueView& operand);
  /// Inputs the expression has so far.
  int input_count() const { return first_input_ + static_cast<int>(operands_.size()); }
  const std::vector<ValueView>& operands() const { return operands_; }
  /// Drops nodes and operands that no result needs; the operands left match the expression
  /// returned.
  abi::Expr Finish(std::vector<uint16_t> results);

 private:
  int first_input_;
  abi::ExprBuilder builder_;
  std::vector<ValueView> operands_;
};

/// Adds operands after the problem's inputs.
void AppendOperands(const std::vector<ValueView>& operands, abi::Problem& problem,
                    std::vector<ir::BufferId>& buffers);

/// Loads a value: as a constant node if it is a constant of one element, otherwise as an operand
/// that is broadcast to `domain`.
uint16_t LoadValue(LowerContext& ctx, OperandExpr& expr, ir::ValueId id, const Dims& domain);

/// One elementwise step out = expr(operands).
void EmitElementwise(LowerContext& ctx, const ir::Node& node, OperandExpr& expr, uint16_t result,
                     const ValueView& out);

/// Emits a step of a family with an epilogue. `problem` holds family, attributes, core inputs and
/// output. The operands of the epilogue come from `expr`, whose value `result` is stored.
void EmitWithEpilogue(LowerContext& ctx, const ir::Node& node, abi::Problem problem,
                      std::vector<ir::BufferId> core, OperandExpr& expr, uint16_t result,
                      const ValueView& out);
/// Emits a step whose raw result is stored as it is, without an epilogue.
void EmitPlain(LowerContext& ctx, const ir::Node& node, abi::Problem problem,
               std::vector<ir::BufferId> core, const ValueView& out);

/// The view of a value. A constant whose elements are all equal is stored as one element that
/// repeats, so that large tensors of zeros need no room in the artifact.
ValueView Repeated(LowerContext& ctx, ir::ValueId id);

/// A per-channel vector [C] as an operand of shape `domain`, which has its channels at axis 1.
ValueView PerChannel(const ValueView& vector, const Dims& domain);

}  // namespace aicf
