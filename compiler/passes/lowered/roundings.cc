#include "compiler/passes/lowered/roundings.h"

#include <algorithm>
#include <vector>

#include "compiler/passes/lowered/fuse.h"

namespace aicf {
namespace {

// How many decisions of this identity were made before.
int OccurrenceOf(const DecisionLog& log, const Decision& decision) {
  const std::string identity = IdentityOf(decision);
  int count = 0;
  log.ForEach([&](const Decision& d) { count += IdentityOf(d) == identity ? 1 : 0; });
  return count;
}

}  // namespace

bool RewriteRoundings(ir::LoweredStep& step, PassContext& context, const RoundingRewrite& what,
                      const RewriteExpr& rewrite) {
  abi::Problem rewritten = step.problem;
  int count = 0;
  std::string note;
  for (abi::Expr* e : {&rewritten.prologue, &rewritten.epilogue, &rewritten.score}) {
    if (!e->empty()) count += rewrite(*e, &note);
  }
  if (count == 0) return false;
  Decision d = context.About(DecisionKind::kRounding, SubjectOf(step), what.pass);
  const std::string choice = StrCat(what.choice, ", ", count, " times");
  const Wish* wish = context.wishes == nullptr
                         ? nullptr
                         : context.wishes->Find(IdentityOf(d), OccurrenceOf(*context.decisions, d));
  const bool as_written = wish != nullptr && wish->decision.choice == what.as_written;
  if (as_written) {
    d.choice = what.as_written;
    d.Because(Reason::kPolicy);
    d.alternatives = {{choice, StrCat("policy: ", wish->origin, " keeps what the model says"), -1}};
  } else {
    step.problem = std::move(rewritten);
    d.choice = choice;
    d.Because(Reason::kRule, StrCat(what.reason, note));
    d.alternatives = {{what.as_written, "", -1}};
  }
  context.Record(std::move(d));
  return !as_written;
}

std::vector<int> UseCounts(const abi::Expr& expr) {
  std::vector<int> uses(expr.nodes.size(), 0);
  for (const abi::ExprNode& n : expr.nodes) {
    for (int a = 0; a < abi::ExprOpArity(n.op); ++a) ++uses[n.args[a]];
  }
  for (uint16_t r : expr.results) ++uses[r];
  return uses;
}

abi::Expr WithoutDeadNodes(const abi::Expr& expr) {
  abi::ExprBuilder b;
  std::vector<uint16_t> inputs;
  for (int k = 0; k < abi::InputCount(expr); ++k) {
    DType dtype = DType::kF32;
    for (const abi::ExprNode& n : expr.nodes) {
      if (n.op == abi::ExprOp::kInput && static_cast<int>(n.imm) == k) dtype = n.dtype;
    }
    inputs.push_back(b.Input(k, dtype));
  }
  return b.Finish(b.Inline(expr, inputs));
}

}  // namespace aicf
