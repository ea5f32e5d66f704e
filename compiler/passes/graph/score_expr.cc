#include "compiler/passes/graph/score_expr.h"

#include <algorithm>

namespace aicf {

uint16_t ScoreExpr::Load(const ir::Graph& graph, ir::ValueId id) {
  const ir::Value& v = graph.values[id];
  const DType dtype = abi::ComputeDType(v.dtype);
  if (v.is_constant() && v.constant.count() == 1) {
    return IsFloat(dtype) ? builder_.Const(v.constant.FloatAt(0), dtype)
                          : builder_.ConstInt(v.constant.IntAt(0), dtype);
  }
  const auto known = std::ranges::find(operands_, id);
  const auto place = static_cast<int>(known - operands_.begin());
  if (known == operands_.end()) operands_.push_back(id);
  return builder_.Input(place + 1, dtype);
}

abi::Expr ScoreExpr::Finish(uint16_t result) {
  abi::Expr expr = builder_.Finish({result});
  std::vector<int> renumbered(operands_.size(), 0);
  std::vector<ir::ValueId> kept;
  for (abi::ExprNode& n : expr.nodes) {
    if (n.op != abi::ExprOp::kInput || n.imm == 0) continue;  // imm numbers no operand here
    int& number = renumbered[n.imm - 1];
    if (number == 0) {
      kept.push_back(operands_[n.imm - 1]);
      number = static_cast<int>(kept.size());
    }
    n.imm = static_cast<uint64_t>(number);
  }
  operands_ = std::move(kept);
  const bool product =
      expr.nodes.size() == 1 && expr.nodes[0].op == abi::ExprOp::kInput && operands_.empty();
  return product ? abi::Expr{} : expr;
}

}  // namespace aicf
