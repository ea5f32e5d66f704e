/// Finds the steps that compute an expression in registers.
#pragma once

#include "kernels/abi/expr.h"
#include "kernels/cpu/gemm/chain_steps.h"

namespace aicf::cpu {

/// Finds steps that lead from one node of an expression, which v holds at first, to another. Each
/// operator of the expression becomes the step that computes it, or two steps where it uses a value
/// twice: nothing is merged, reordered or replaced by something that rounds otherwise.
///
/// Where an operator combines two computed values, both come from one value, the fork: it is saved,
/// one of the two is computed from it, and then the other one where that is not the fork itself.
class ChainMatcher {
 public:
  explicit ChainMatcher(const abi::Expr& expr) : nodes_(expr.nodes) {}

  /// Appends the steps from node `base` to node `node`; `saved` is the node that s holds and has to
  /// keep, kNothing: s is free. false where there is no such chain; `steps` is then unspecified.
  bool Match(int node, int base, int saved, ChainSteps* steps);
  static constexpr int kNothing = -1;

 private:
  /// Bounds the search on expressions that are made of many products of the same value.
  static constexpr int kMaxVisits = 500;

  bool IsNumber(int node, float* value) const;
  bool IsDequantised(int node, ChainOperand* operand) const;
  bool IsLeaf(int node, int saved, ChainOperand* operand) const;
  bool MatchNarrow(const abi::ExprNode& n, int base, int saved, ChainSteps* steps);
  bool MatchOperator(const abi::ExprNode& n, int base, int saved, ChainSteps* steps);
  bool MatchFork(const abi::ExprNode& n, int kept, int flowing, int base, ChainSteps* steps);
  /// The argument of a node that has one which is computed; kNothing: another number of them.
  int OnlyComputed(int node) const;
  bool PushOperator(const abi::ExprNode& n, int value, int saved, ChainSteps* steps) const;
  bool PushBinary(const abi::ExprNode& n, bool value_first, const ChainOperand& other,
                  ChainSteps* steps) const;
  bool PushFma(int slot, const ChainOperand* operands, ChainSteps* steps) const;

  const std::vector<abi::ExprNode>& nodes_;
  int visits_ = 0;
};

}  // namespace aicf::cpu
