#include "kernels/cpu/expr/block_plan.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "kernels/cpu/expr/scalar_eval.h"

namespace aicf::cpu {
namespace {

using abi::ExprOp;

/// Index of the last step that reads each value; results are read at the end.
void FindLastReaders(const BlockPlan& plan, int* last) {
  for (int i = 0; i < plan.steps; ++i) {
    last[i] = i;
    const BlockStep& step = plan.step[i];
    for (int a = 0; a < step.arity; ++a) last[step.node.args[a]] = i;
  }
  for (int r = 0; r < plan.results; ++r) last[plan.result[r]] = plan.steps;
}

/// The one node of 8 bits on which a reader of `node` depends through it: the root of `node`, or
/// `node` itself if it has 8 bits and no root; -1 if there is none.
int EffectiveRoot(const BlockPlan& plan, int node) {
  if (plan.root[node] >= 0) return plan.root[node];
  return IsByteInteger(plan.step[node].node.dtype) ? node : -1;
}

/// The root that all arguments of a node other than constants have in common; -1 if there is none.
int16_t RootOf(const BlockPlan& plan, const BlockStep& step) {
  int root = -1;
  for (int a = 0; a < step.arity; ++a) {
    const int arg = step.node.args[a];
    if (plan.step[arg].node.op == ExprOp::kConst) continue;
    const int other = EffectiveRoot(plan, arg);
    if (other < 0 || (root >= 0 && other != root)) return -1;
    root = other;
  }
  return static_cast<int16_t>(root);
}

/// Number of nodes up to and including `node` that depend only on its root, which a lookup saves.
int SavedNodes(const BlockPlan& plan, int node) {
  int count = 0;
  for (int i = 0; i <= node; ++i) count += plan.root[i] == plan.root[node];
  return count;
}

/// Whether a table of the node's values is possible, small, and worth it.
bool MakesTable(const BlockPlan& plan, int node) {
  const int64_t bytes = DTypeBytes(plan.step[node].node.dtype);
  return plan.root[node] >= 0 && (bytes == 1 || bytes == kMaxTableEntryBytes) &&
         SavedNodes(plan, node) >= kMinTableNodes;
}

/// Chooses the values to look up: those that depend on a root and are results, or are read by a
/// node that does not have the same root.
void FindTables(BlockPlan* plan) {
  bool leaves[abi::kMaxExprNodes] = {};
  for (int i = 0; i < plan->steps; ++i) {
    BlockStep& step = plan->step[i];
    plan->root[i] = step.arity > 0 ? RootOf(*plan, step) : int16_t{-1};
    for (int a = 0; a < step.arity; ++a) {
      const int arg = step.node.args[a];
      if (plan->root[arg] >= 0 && plan->root[i] != plan->root[arg]) leaves[arg] = true;
    }
  }
  for (int r = 0; r < plan->results; ++r) leaves[plan->result[r]] = true;
  for (int i = 0; i < plan->steps && plan->tables < kMaxBlockTables; ++i) {
    if (leaves[i] && MakesTable(*plan, i)) {
      plan->table[plan->tables++] = {static_cast<int16_t>(i), plan->root[i]};
    }
  }
}

/// Turns the steps in plan->table into lookups, and marks the steps that no result needs any more
/// as skipped.
void UseTables(BlockPlan* plan) {
  for (int t = 0; t < plan->tables; ++t) {
    BlockStep& step = plan->step[plan->table[t].node];
    step.table = static_cast<int8_t>(t);
    step.arity = 1;
    step.node.args[0] = static_cast<uint16_t>(plan->table[t].source);
    step.operand = plan->step[plan->table[t].source].node.dtype;
  }
  bool needed[abi::kMaxExprNodes] = {};
  for (int r = 0; r < plan->results; ++r) needed[plan->result[r]] = true;
  for (int i = plan->steps - 1; i >= 0; --i) {
    BlockStep& step = plan->step[i];
    for (int a = 0; a < step.arity && needed[i]; ++a) needed[step.node.args[a]] = true;
    step.skipped = !needed[i];
    if (step.skipped) step.arity = 0;
  }
}

/// A free slot, or a new one.
int16_t TakeSlot(bool* busy, BlockPlan* plan) {
  int slot = 0;
  while (slot < plan->slots && busy[slot]) ++slot;
  plan->slots = std::max(plan->slots, slot + 1);
  busy[slot] = true;
  return static_cast<int16_t>(slot);
}

void AssignSlots(const int* last, BlockPlan* plan) {
  bool busy[abi::kMaxExprNodes] = {};
  for (int i = 0; i < plan->steps; ++i) {
    BlockStep& step = plan->step[i];
    if (step.node.op == ExprOp::kConst || step.skipped) continue;
    // An argument that is read here for the last time may give its slot to the result, because
    // element i of the result needs only element i of the argument.
    for (int a = 0; a < step.arity; ++a) {
      const int16_t freed = plan->step[step.node.args[a]].slot;
      if (freed >= 0 && last[step.node.args[a]] == i &&
          DTypeBytes(plan->step[step.node.args[a]].node.dtype) == DTypeBytes(step.node.dtype)) {
        busy[freed] = false;
      }
    }
    step.slot = TakeSlot(busy, plan);
    for (int a = 0; a < step.arity; ++a) {
      const int16_t freed = plan->step[step.node.args[a]].slot;
      if (freed >= 0 && last[step.node.args[a]] == i && freed != step.slot) busy[freed] = false;
    }
  }
}

/// Turns x^2 into x * x, which is the same value, rounded once.
void SquareByMultiplying(BlockPlan* plan, BlockStep* step) {
  if (step->node.op != ExprOp::kPow || step->node.dtype != DType::kF32) return;
  const BlockStep& exponent = plan->step[step->node.args[1]];
  if (exponent.node.op != ExprOp::kConst || abi::BitsToFloat(exponent.node.imm) != 2) return;
  step->node.op = ExprOp::kMul;
  step->node.args[1] = step->node.args[0];
}

}  // namespace

void BuildBlockPlan(const abi::Expr& expr, bool use_tables, BlockPlan* plan) {
  *plan = BlockPlan{};
  plan->steps = static_cast<int>(expr.nodes.size());
  plan->results = static_cast<int>(expr.results.size());
  std::copy(expr.results.begin(), expr.results.end(), plan->result);
  for (int i = 0; i < plan->steps; ++i) {
    BlockStep& step = plan->step[i];
    step.node = expr.nodes[static_cast<size_t>(i)];
    plan->source[i] = step.node;
    step.arity = static_cast<uint8_t>(abi::ExprOpArity(step.node.op));
    step.operand = plan->step[step.node.args[0]].node.dtype;
    if (step.node.op == ExprOp::kConst) {
      StoreScalar(&step.constant, step.node.dtype, ConstantOf(step.node));
    }
    SquareByMultiplying(plan, &step);
    plan->slot_bytes = std::max(plan->slot_bytes, static_cast<int>(DTypeBytes(step.node.dtype)));
  }
  for (int r = 0; r < plan->results; ++r) plan->step[plan->result[r]].staged = plan->results > 1;
  FindTables(plan);
  if (use_tables) UseTables(plan);
  int last[abi::kMaxExprNodes];
  FindLastReaders(*plan, last);
  AssignSlots(last, plan);
}

bool PlanMatches(const BlockPlan& plan, const abi::Expr& expr) {
  if (plan.steps != static_cast<int>(expr.nodes.size())) return false;
  if (plan.results != static_cast<int>(expr.results.size())) return false;
  if (!std::equal(expr.results.begin(), expr.results.end(), plan.result)) return false;
  // This runs for every block, so the nodes are compared as bytes in one call.
  static_assert(std::has_unique_object_representations_v<abi::ExprNode>);
  return std::memcmp(plan.source, expr.nodes.data(), expr.nodes.size() * sizeof(abi::ExprNode)) ==
         0;
}

void EvalStepSlowly(const BlockStep& step, int64_t n, const BlockOperand* args, void* out) {
  const int64_t out_bytes = DTypeBytes(step.node.dtype);
  const int64_t first_bytes = DTypeBytes(step.operand);
  // A select's second and third argument have the dtype of its result.
  const DType rest = step.node.op == abi::ExprOp::kSelect ? step.node.dtype : step.operand;
  const auto load = [](const BlockOperand& arg, int64_t i, int64_t bytes, DType dtype) {
    return LoadScalar(static_cast<const char*>(arg.data) + i * arg.step * bytes, dtype);
  };
  for (int64_t i = 0; i < n; ++i) {
    Scalar v[3] = {IntScalar(0), IntScalar(0), IntScalar(0)};
    v[0] = load(args[0], i, first_bytes, step.operand);
    for (int a = 1; a < step.arity; ++a) v[a] = load(args[a], i, DTypeBytes(rest), rest);
    StoreScalar(static_cast<char*>(out) + i * out_bytes, step.node.dtype,
                EvalOperator(step.node, step.operand, v[0], v[1], v[2]));
  }
}

}  // namespace aicf::cpu
