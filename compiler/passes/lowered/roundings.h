/// Rewrites of expressions that round otherwise than what the model says: each is a decision of the
/// kind "rounding" about one step.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/ir/lowered.h"
#include "compiler/passes/pass.h"

namespace aicf {

/// What a pass would do to the expressions of a step.
struct RoundingRewrite {
  std::string pass;
  std::string choice;      ///< "fma, 2 times"
  std::string as_written;  ///< "mul, add": the alternative, which a wish may ask for
  std::string reason;      ///< with the bound of the error that it adds or saves
};

/// Rewrites one expression in place; gives how many of its operators changed, and may say more
/// about them in `*note`.
using RewriteExpr = std::function<int(abi::Expr& expr, std::string* note)>;

/// Applies `rewrite` to the prologue, epilogue and score of a step and records the decision, or
/// leaves them as they are where a wish says so, which is recorded too. "N times" is appended to
/// the choice. Nothing is recorded of a step where there is nothing to rewrite. Returns whether the
/// expressions changed.
bool RewriteRoundings(ir::LoweredStep& step, PassContext& context, const RoundingRewrite& what,
                      const RewriteExpr& rewrite);

/// How often nodes and results read each node of the expression.
std::vector<int> UseCounts(const abi::Expr& expr);

/// The expression without nodes that no result needs.
abi::Expr WithoutDeadNodes(const abi::Expr& expr);

}  // namespace aicf
