#include <vector>

#include "compiler/passes/lowered/fuse.h"
#include "compiler/passes/lowered/passes.h"

namespace aicf {
namespace {

using abi::Expr;
using abi::ExprNode;
using abi::ExprOp;

std::vector<int> UseCounts(const Expr& expr) {
  std::vector<int> uses(expr.nodes.size(), 0);
  for (const ExprNode& n : expr.nodes) {
    for (int a = 0; a < abi::ExprOpArity(n.op); ++a) ++uses[n.args[a]];
  }
  for (uint16_t r : expr.results) ++uses[r];
  return uses;
}

// Makes fma of every add whose operand is a product used nowhere else; returns how many.
int Form(Expr& expr) {
  if (expr.empty()) return 0;
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
  if (formed == 0) return 0;
  // The products are dead now: rebuild without them.
  abi::ExprBuilder b;
  std::vector<uint16_t> inputs;
  for (int k = 0; k < abi::InputCount(expr); ++k) {
    DType dtype = DType::kF32;
    for (const ExprNode& n : expr.nodes) {
      if (n.op == ExprOp::kInput && static_cast<int>(n.imm) == k) dtype = n.dtype;
    }
    inputs.push_back(b.Input(k, dtype));
  }
  expr = b.Finish(b.Inline(expr, inputs));
  return formed;
}

}  // namespace

Status FormFma(ir::Lowered& lowered, PassContext& context) {
  for (ir::LoweredStep& step : lowered.steps) {
    const int formed =
        Form(step.problem.prologue) + Form(step.problem.epilogue) + Form(step.problem.score);
    if (formed == 0) continue;
    Decision d = context.About(DecisionKind::kRounding, SubjectOf(step), "form-fma");
    d.choice = StrCat("fma, ", formed, " times");
    d.Because(Reason::kRule, "one rounding instead of two, the same on every backend")
        .alternatives = {{"mul, add", "", -1}};
    context.Record(std::move(d));
  }
  return OkStatus();
}

}  // namespace aicf
