#include "compiler/passes/storage/drop_roundings.h"

#include "compiler/passes/lowered/roundings.h"

namespace aicf::storage {
namespace {

using abi::ExprNode;
using abi::ExprOp;

// The dtype whose numbers the operator rounds to; f32 where it rounds to none.
DType RoundedTo(const ExprNode& n) {
  if (n.op == ExprOp::kRoundF16) return DType::kF16;
  return n.op == ExprOp::kRoundBF16 ? DType::kBF16 : DType::kF32;
}

// Drops operators that round an operand to the dtype in which it is stored: it has been rounded to
// that already.
bool DropOfOperands(abi::Problem& p) {
  bool dropped = false;
  for (ExprNode& n : p.epilogue.nodes) {
    if (RoundedTo(n) == DType::kF32) continue;
    const ExprNode& operand = p.epilogue.nodes[n.args[0]];
    if (operand.op != ExprOp::kInput) continue;
    if (p.inputs[static_cast<size_t>(operand.imm)].dtype != RoundedTo(n)) continue;
    n = ExprNode(operand);
    dropped = true;
  }
  return dropped;
}

bool DropOfResults(abi::Problem& p) {
  bool dropped = false;
  for (size_t r = 0; r < p.epilogue.results.size(); ++r) {
    const ExprNode& n = p.epilogue.nodes[p.epilogue.results[r]];
    if (RoundedTo(n) == DType::kF32 || p.outputs[r].dtype != RoundedTo(n)) continue;
    p.epilogue.results[r] = n.args[0];
    dropped = true;
  }
  return dropped;
}

bool IsIdentity(const abi::Expr& e) {
  return e.nodes.size() == 1 && e.nodes[0].op == ExprOp::kInput && e.nodes[0].imm == 0;
}

}  // namespace

void DropRoundings(abi::Problem& p) {
  const bool map = p.family == abi::Family::kElementwise;
  bool dropped = map && DropOfOperands(p);
  dropped |= DropOfResults(p);
  if (!dropped) return;
  p.epilogue = WithoutDeadNodes(p.epilogue);
  // Other families write their result as it is where they have no expression.
  if (!map && IsIdentity(p.epilogue)) p.epilogue = {};
}

}  // namespace aicf::storage
