/// Finds the steps that compute an expression in registers.
#pragma once

#include "kernels/abi/expr.h"
#include "kernels/cpu/gemm/chain_steps.h"

namespace aicf::cpu {

/// Finds the steps that compute one node of an expression from another one, whose value v holds at
/// first. (v and s are the registers of a chain, see ChainOp.) Each operator of the expression
/// becomes the step that computes it, or two steps where it uses a value twice. Nothing is merged,
/// reordered or replaced by something that rounds differently.
///
/// Where an operator combines two computed values, both have to come from one value, the fork. The
/// fork is saved and one of the two values is computed from it; then the other one is computed,
/// unless it is the fork itself.
class ChainMatcher {
 public:
  explicit ChainMatcher(const abi::Expr& expr) : nodes_(expr.nodes) {}

  /// Appends the steps from node `base` to node `node`. `saved` is the node whose value s holds and
  /// has to keep; kNothing: s is free. Returns false if there is no such chain; `steps` is then
  /// unspecified.
  bool Match(int node, int base, int saved, ChainSteps* steps);
  static constexpr int kNothing = -1;

 private:
  /// Most nodes visited by a search. Without a bound it could take very long on expressions that
  /// consist of many products of the same value.
  static constexpr int kMaxVisits = 500;

  bool IsNumber(int node, float* value) const;
  bool IsDequantised(int node, ChainOperand* operand) const;
  bool IsLeaf(int node, int saved, ChainOperand* operand) const;
  bool MatchNarrow(const abi::ExprNode& n, int base, int saved, ChainSteps* steps);
  bool MatchOperator(const abi::ExprNode& n, int base, int saved, ChainSteps* steps);
  bool MatchFork(const abi::ExprNode& n, int kept, int flowing, int base, ChainSteps* steps);
  /// The argument of the node that is computed (not a leaf), if exactly one is; otherwise kNothing.
  int OnlyComputed(int node) const;
  bool PushOperator(const abi::ExprNode& n, int value, int saved, ChainSteps* steps) const;
  bool PushBinary(const abi::ExprNode& n, bool value_first, const ChainOperand& other,
                  ChainSteps* steps) const;
  bool PushFma(int slot, const ChainOperand* operands, ChainSteps* steps) const;

  const std::vector<abi::ExprNode>& nodes_;
  int visits_ = 0;
};

}  // namespace aicf::cpu
