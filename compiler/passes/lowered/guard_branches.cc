// Work that only one side of a selection needs is skipped where the other side is taken.
//
// A model's If reaches this level as both branches and a select with its condition. Walking from
// the results backwards, a step whose every use lies on one side of selects with one condition
// needs to run only where the condition has that value. Skipping is never needed for the result:
// what a skipped step would have written is read by nothing but selects that take the other side.
#include <optional>
#include <set>
#include <utility>

#include "compiler/passes/lowered/fuse.h"
#include "compiler/passes/lowered/passes.h"

namespace aicf {
namespace {

using Guards = std::vector<schema::Guard>;

// A select between two operands by one bool, nothing else.
bool IsSelect(const ir::LoweredStep& step) {
  const abi::Problem& p = step.problem;
  if (p.family != abi::Family::kElementwise || step.inputs.size() != 3) return false;
  const abi::Expr& e = p.epilogue;
  if (e.results.size() != 1 || e.nodes[e.results[0]].op != abi::ExprOp::kSelect) return false;
  const abi::ExprNode& select = e.nodes[e.results[0]];
  for (int k = 0; k < 3; ++k) {
    const abi::ExprNode& operand = e.nodes[select.args[k]];
    if (operand.op != abi::ExprOp::kInput || operand.imm != static_cast<uint64_t>(k)) return false;
  }
  const abi::View& condition = p.inputs[0];
  for (int d = 0; d < condition.shape.rank(); ++d) {
    if (condition.shape[d] != 1 && condition.strides[d] != 0) return false;
  }
  return condition.offset == 0;
}

Guards CommonPrefix(const Guards& a, const Guards& b) {
  size_t n = 0;
  while (n < a.size() && n < b.size() && a[n] == b[n]) ++n;
  return Guards(a.begin(), a.begin() + static_cast<ptrdiff_t>(n));
}

class Analysis {
 public:
  explicit Analysis(const ir::Lowered& lowered)
      : l_(lowered), need_(lowered.buffers.size()), last_writer_(lowered.buffers.size(), -1) {
    for (size_t s = 0; s < l_.steps.size(); ++s) {
      for (ir::BufferId b : l_.steps[s].outputs) last_writer_[b] = static_cast<int>(s);
    }
    for (ir::BufferId b : l_.outputs) need_[b] = Guards();
    // Carried buffers are always needed: another trip, or the loop itself, may read what a step
    // leaves in them.
    for (ir::BufferId b = 0; b < l_.buffers.size(); ++b) {
      if (l_.buffers[b].role == schema::Role::kCarried) need_[b] = Guards();
    }
  }

  // Guards of every step, outermost first.
  std::vector<Guards> Run() {
    std::vector<Guards> guards(l_.steps.size());
    for (int s = static_cast<int>(l_.steps.size()) - 1; s >= 0; --s) {
      guards[s] = Known(NeedOf(l_.steps[s]), s);
      Propagate(l_.steps[s], guards[s]);
    }
    return guards;
  }

 private:
  Guards NeedOf(const ir::LoweredStep& step) const {
    std::optional<Guards> need;
    for (ir::BufferId b : step.outputs) {
      if (!need_[b]) continue;
      need = need ? CommonPrefix(*need, *need_[b]) : *need_[b];
    }
    return need.value_or(Guards());
  }

  // Only conditions that are computed before the step can guard it.
  Guards Known(Guards guards, int step) const {
    for (size_t i = 0; i < guards.size(); ++i) {
      if (last_writer_[guards[i].buffer] < step) continue;
      guards.resize(i);
      break;
    }
    return guards;
  }

  void Use(ir::BufferId b, const Guards& guards) {
    need_[b] = need_[b] ? CommonPrefix(*need_[b], guards) : guards;
  }

  void Propagate(const ir::LoweredStep& step, const Guards& guards) {
    const bool select = IsSelect(step) && guards.size() < schema::kMaxGuards &&
                        l_.buffers[step.inputs[0]].role != schema::Role::kConstant &&
                        ElementCount(l_.buffers[step.inputs[0]].shape) == 1;
    for (size_t k = 0; k < step.inputs.size(); ++k) {
      Guards use = guards;
      if (select && k > 0) use.push_back({step.inputs[0], k == 1});
      Use(step.inputs[k], use);
    }
  }

  const ir::Lowered& l_;
  std::vector<std::optional<Guards>> need_;  // by buffer: what all its uses share; unset: no use
  std::vector<int> last_writer_;
};

// Skipping pays where a branch holds more than what fusion would make free anyway.
bool IsHeavy(const ir::LoweredStep& step) {
  return step.problem.family != abi::Family::kElementwise &&
         step.problem.family != abi::Family::kCopy;
}

/// Guards around which a step is worth skipping: those of each such step, and all that are further
/// out.
class WorthSkipping {
 public:
  WorthSkipping(const ir::Lowered& lowered, const std::vector<Guards>& guards) {
    for (size_t s = 0; s < guards.size(); ++s) {
      if (!IsHeavy(lowered.steps[s])) continue;
      Key key = KeyOf(guards[s]);
      while (!key.empty() && known_.insert(key).second) key.pop_back();
    }
  }
  bool Holds(const Guards& guards) const { return known_.contains(KeyOf(guards)); }

 private:
  using Key = std::vector<std::pair<uint32_t, bool>>;

  static Key KeyOf(const Guards& guards) {
    Key key;
    for (const schema::Guard& g : guards) key.emplace_back(g.buffer, g.expected);
    return key;
  }

  std::set<Key> known_;
};

}  // namespace

Status GuardBranches(ir::Lowered& lowered, PassContext& context) {
  std::vector<Guards> guards = Analysis(lowered).Run();
  const WorthSkipping worth(lowered, guards);
  for (size_t s = 0; s < guards.size(); ++s) {
    while (!guards[s].empty() && !worth.Holds(guards[s])) guards[s].pop_back();
    ir::LoweredStep& step = lowered.steps[s];
    step.guards = guards[s];
    if (step.guards.empty()) continue;
    const schema::Guard& inner = step.guards.back();
    Decision d = context.About(DecisionKind::kGuard, SubjectOf(step), "guard-branches");
    d.choice =
        StrCat(inner.expected ? "if '" : "unless '", lowered.buffers[inner.buffer].name, "'");
    d.Because(Reason::kRule, "every use is on one side of a select with this condition");
    context.Record(std::move(d));
  }
  return OkStatus();
}

}  // namespace aicf
