/// The score expression of an aicf.Attention under construction, with the values that it reads.
#pragma once

#include <vector>

#include "compiler/ir/graph.h"
#include "kernels/abi/expr.h"

namespace aicf {

class ScoreExpr {
 public:
  abi::ExprBuilder& builder() { return builder_; }
  /// The scaled product of queries and keys of that dtype.
  uint16_t Raw(DType data) { return builder_.Input(0, abi::ComputeDType(data)); }
  /// A value, broadcast to the scores: a constant where it has one element, otherwise an operand.
  uint16_t Load(const ir::Graph& graph, ir::ValueId v);
  /// Operands loaded so far; after Finish those that the expression reads.
  const std::vector<ir::ValueId>& operands() const { return operands_; }
  /// The expression of this result; nodes that it does not need are left out. Empty where the
  /// result is the scaled product itself. Call it once.
  abi::Expr Finish(uint16_t result);

 private:
  abi::ExprBuilder builder_;
  std::vector<ir::ValueId> operands_;  ///< operand n is input n + 1
};

}  // namespace aicf
