#include "kernels/cpu/gemm/chain_plan.h"

#include <algorithm>

#include "kernels/cpu/gemm/chain_match.h"

namespace aicf::cpu {
namespace {

bool IsStorable(DType d) { return d == DType::kF32 || d == DType::kF16 || d == DType::kBF16; }

// Finds the steps from node `first` to the result, including the conversion to the dtype `stored`.
bool MatchSteps(const abi::Expr& expr, int first, DType stored, ChainSteps* steps) {
  ChainMatcher matcher(expr);
  int last = expr.results[0];
  if (IsByteInteger(stored)) {
    const abi::ExprNode& cast = expr.nodes[last];
    if (cast.op != abi::ExprOp::kCast || cast.dtype != stored) return false;
    last = cast.args[0];
  } else if (!IsStorable(stored)) {
    return false;
  }
  if (!matcher.Match(last, first, ChainMatcher::kNothing, steps)) return false;
  if (IsByteInteger(stored) && !steps->Push(NarrowTo(stored))) return false;
  JoinSteps(steps);
  return true;
}

int RawInput(const abi::Expr& expr) {
  for (size_t i = 0; i < expr.nodes.size(); ++i) {
    const abi::ExprNode& n = expr.nodes[i];
    if (n.op == abi::ExprOp::kInput && n.imm == 0) return static_cast<int>(i);
  }
  return -1;
}

bool IsColumn(const TileOperand& o) {
  if (o.row_stride != 0) return false;
  return std::ranges::all_of(o.outer_strides, [](int64_t s) { return s == 0; });
}

// Finds the slot of an input among the epilogue's column operands, or adds one; false if all slots
// are taken.
bool FindSlot(int input, TileEpilogue* e, int* slot) {
  *slot = 0;
  while (*slot < e->column_count && e->column_inputs[*slot] != input) ++*slot;
  if (*slot == kMaxColumnOperands) return false;
  e->column_inputs[*slot] = input;
  e->column_count = std::max(e->column_count, *slot + 1);
  return true;
}

// Decides how an operand is read. All operands are kTensor until here; those that vary with the
// column alone become kColumns. False where the operand cannot be read by a chain.
bool Place(bool tensors_allowed, TileEpilogue* e, ChainOperand* operand) {
  if (operand->source != ChainSource::kTensor) return true;
  const TileOperand& o = e->inputs[operand->index];
  if (operand->dequantises) return tensors_allowed && IsByteInteger(o.dtype) && o.col_stride == 1;
  if (IsColumn(o)) {
    operand->source = ChainSource::kColumns;
    return IsStorable(o.dtype) && FindSlot(operand->index, e, &operand->index);
  }
  return tensors_allowed && o.dtype == DType::kF32 && o.col_stride == 1;
}

bool StartsWithBias(const ChainSteps& steps, const TileEpilogue& e) {
  const ChainOperand& x = steps.step[0].x;
  return steps.count > 0 && steps.step[0].op == ChainOp::kAdd && x.source == ChainSource::kTensor &&
         !x.dequantises && IsColumn(e.inputs[x.index]) && IsStorable(e.inputs[x.index].dtype);
}

bool PlaceAll(const ChainSteps& steps, bool tensors_allowed, TileEpilogue* e) {
  int first = 0;
  if (!e->from_integers && StartsWithBias(steps, *e)) e->bias_input = steps.step[first++].x.index;
  e->step_count = steps.count - first;
  std::copy(steps.step + first, steps.step + steps.count, e->steps);
  for (int i = 0; i < e->step_count; ++i) {
    ChainStep& s = e->steps[i];
    if (!Place(tensors_allowed, e, &s.x) || !Place(tensors_allowed, e, &s.y)) return false;
  }
  return true;
}

/// Matches the part of an expression before its integer sums become f32: sums plus or minus terms.
class IntegerChainMatcher {
 public:
  explicit IntegerChainMatcher(const abi::Expr& expr) : nodes_(expr.nodes) {}

  /// The node that makes the sums f32, with the terms before it in *e; -1: there is none, or
  /// something else uses the sums.
  int FirstFloat(TileEpilogue* e) const {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const abi::ExprNode& n = nodes_[i];
      if (n.op != abi::ExprOp::kCast || n.dtype != DType::kF32) continue;
      e->term_count = 0;
      if (AddTerms(n.args[0], e)) return static_cast<int>(i);
    }
    return -1;
  }

 private:
  bool IsRaw(int node) const {
    return nodes_[node].op == abi::ExprOp::kInput && nodes_[node].imm == 0;
  }

  // Walks from `node` back to the raw sums and collects the terms on the way. False where anything
  // but i32 additions and subtractions of terms lies between.
  bool AddTerms(int node, TileEpilogue* e) const {
    while (!IsRaw(node)) {
      const abi::ExprNode& n = nodes_[node];
      const bool sub = n.op == abi::ExprOp::kSub;
      if (n.dtype != DType::kI32 || (!sub && n.op != abi::ExprOp::kAdd)) return false;
      const bool second = !sub && !DependsOnRaw(n.args[0]);
      IntegerTerm term;
      if (!MakeTerm(n.args[second ? 0 : 1], *e, &term)) return false;
      if (sub) term.number = static_cast<int32_t>(0u - static_cast<uint32_t>(term.number));
      if (e->term_count == kMaxIntegerTerms) return false;
      e->terms[e->term_count++] = term;
      node = n.args[second ? 1 : 0];
    }
    return true;
  }

  bool DependsOnRaw(int node) const {
    if (nodes_[node].op == abi::ExprOp::kInput) return IsRaw(node);
    for (int k = 0; k < abi::ExprOpArity(nodes_[node].op); ++k) {
      if (DependsOnRaw(nodes_[node].args[k])) return true;
    }
    return false;
  }

  // Matches a term: a number, an operand, or a product of two of these.
  bool MakeTerm(int node, const TileEpilogue& e, IntegerTerm* term) const {
    const abi::ExprNode& n = nodes_[node];
    if (n.op != abi::ExprOp::kMul) return Multiply(node, e, term);
    return n.dtype == DType::kI32 && Multiply(n.args[0], e, term) && Multiply(n.args[1], e, term);
  }

  bool Multiply(int node, const TileEpilogue& e, IntegerTerm* term) const {
    const abi::ExprNode& n = nodes_[node];
    if (n.op == abi::ExprOp::kConst && n.dtype == DType::kI32) {
      const auto number = static_cast<uint32_t>(n.imm);
      term->number = static_cast<int32_t>(static_cast<uint32_t>(term->number) * number);
      return true;
    }
    if (n.op == abi::ExprOp::kCast && n.dtype == DType::kI32) node = n.args[0];
    const abi::ExprNode& leaf = nodes_[node];
    if (leaf.op != abi::ExprOp::kInput || leaf.imm == 0) return false;
    const int input = static_cast<int>(leaf.imm) - 1;
    const DType dtype = e.inputs[input].dtype;
    const bool is_integer = dtype == DType::kI32 || IsByteInteger(dtype);
    if (!is_integer || !IsColumn(e.inputs[input])) return false;
    int& place = term->a < 0 ? term->a : term->b;
    if (place >= 0) return false;
    place = input;
    return true;
  }

  const std::vector<abi::ExprNode>& nodes_;
};

void Clear(TileEpilogue* e) {
  e->is_chain = e->is_direct = e->from_integers = false;
  e->bias_input = -1;
  e->step_count = e->column_count = e->term_count = 0;
}

}  // namespace

void PlanChain(const abi::Expr& expr, bool tensors_allowed, TileEpilogue* e) {
  Clear(e);
  if (e->output_count != 1) return;
  ChainSteps steps;
  if (expr.empty()) {
    if (!IsStorable(e->outputs[0].dtype)) return;
  } else {
    const int raw = RawInput(expr);
    if (raw < 0 || !MatchSteps(expr, raw, e->outputs[0].dtype, &steps)) return;
  }
  if (!PlaceAll(steps, tensors_allowed, e)) return Clear(e);
  e->is_chain = true;
  const bool at_most_clamp =
      e->step_count == 0 || (e->step_count == 1 && e->steps[0].op == ChainOp::kClamp);
  const TileOperand& out = e->outputs[0];
  e->is_direct = at_most_clamp && out.dtype == DType::kF32 && out.col_stride == 1;
}

void PlanIntegerChain(const abi::Expr& expr, bool tensors_allowed, TileEpilogue* e) {
  Clear(e);
  if (e->output_count != 1) return;
  const DType stored = e->outputs[0].dtype;
  if (expr.empty()) {
    e->is_chain = stored == DType::kI32;
    return;
  }
  ChainSteps steps;
  const int first = IntegerChainMatcher(expr).FirstFloat(e);
  if (first < 0 || !MatchSteps(expr, first, stored, &steps)) return Clear(e);
  e->from_integers = true;
  if (!PlaceAll(steps, tensors_allowed, e)) return Clear(e);
  e->is_chain = true;
}

}  // namespace aicf::cpu
