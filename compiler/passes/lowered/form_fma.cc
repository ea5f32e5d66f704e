#include <vector>

#include "compiler/passes/lowered/passes.h"
#include "compiler/passes/lowered/roundings.h"

namespace aicf {
namespace {

using abi::Expr;
using abi::ExprNode;
using abi::ExprOp;

// Makes fma of every add whose operand is a product used nowhere else; returns how many.
int FormFmaIn(Expr& expr, std::string*) {
  const std::vector<int> uses = UseCounts(expr);
  int formed = 0;
  for (ExprNode& n : expr.nodes) {
    if (n.op != ExprOp::kAdd || !IsFloat(n.dtype)) continue;
    for (int side = 0; side < 2; ++side) {
      const ExprNode& product = expr.nodes[n.args[side]];
      if (product.op != ExprOp::kMul || uses[n.args[side]] != 1) continue;
      n = {ExprOp::kFma, n.dtype, {product.args[0], product.args[1], n.args[1 - side]}, 0};
      ++formed;
      break;
    }
  }
  if (formed != 0) expr = WithoutDeadNodes(expr);
  return formed;
}

}  // namespace

Status FormFma(ir::Lowered& lowered, PassContext& context) {
  const RoundingRewrite fma = {"form-fma", "fma", "mul, add",
                               "one rounding instead of two, the same on every backend"};
  for (ir::LoweredStep& step : lowered.steps) RewriteRoundings(step, context, fma, FormFmaIn);
  return OkStatus();
}

}  // namespace aicf
