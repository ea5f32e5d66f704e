#include "kernels/cpu/gemm/chain_plan.h"

#include <algorithm>

#include "kernels/cpu/gemm/chain_match.h"

namespace aicf::cpu {
namespace {

bool IsStorable(DType d) { return d == DType::kF32 || d == DType::kF16 || d == DType::kBF16; }

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

// The slot of an input among the epilogue's column operands, a new one where it has none.
bool FindSlot(int input, TileEpilogue* e, int* slot) {
  *slot = 0;
  while (*slot < e->column_count && e->column_inputs[*slot] != input) ++*slot;
  if (*slot == kMaxColumnOperands) return false;
  e->column_inputs[*slot] = input;
  e->column_count = std::max(e->column_count, *slot + 1);
  return true;
}

// Operands are tensors until here; those that vary with the column alone are columns.
bool Place(bool tensors_allowed, TileEpilogue* e, ChainOperand* operand) {
  if (operand->source != ChainSource::kTensor) return true;
  const TileOperand& o = e->inputs[operand->index];
  if (IsColumn(o)) {
    operand->source = ChainSource::kColumns;
    return IsStorable(o.dtype) && FindSlot(operand->index, e, &operand->index);
  }
  return tensors_allowed && o.dtype == DType::kF32 && o.col_stride == 1;
}

bool StartsWithBias(const ChainSteps& steps, const TileEpilogue& e) {
  const ChainOperand& x = steps.step[0].x;
  return steps.count > 0 && steps.step[0].op == ChainOp::kAdd && x.source == ChainSource::kTensor &&
         IsColumn(e.inputs[x.index]) && IsStorable(e.inputs[x.index].dtype);
}

bool PlaceAll(const ChainSteps& steps, bool tensors_allowed, TileEpilogue* e) {
  int first = 0;
  if (StartsWithBias(steps, *e)) e->bias_input = steps.step[first++].x.index;
  e->step_count = steps.count - first;
  std::copy(steps.step + first, steps.step + steps.count, e->steps);
  for (int i = 0; i < e->step_count; ++i) {
    ChainStep& s = e->steps[i];
    if (!Place(tensors_allowed, e, &s.x) || !Place(tensors_allowed, e, &s.y)) return false;
  }
  return true;
}

void Clear(TileEpilogue* e) {
  e->is_chain = e->is_direct = false;
  e->bias_input = -1;
  e->step_count = e->column_count = 0;
}

}  // namespace

void PlanChain(const abi::Expr& expr, bool tensors_allowed, TileEpilogue* e) {
  Clear(e);
  if (e->output_count != 1 || !IsStorable(e->outputs[0].dtype)) return;
  ChainSteps steps;
  if (!expr.empty()) {
    const int raw = RawInput(expr);
    if (raw < 0) return;
    ChainMatcher matcher(expr);
    if (!matcher.Match(expr.results[0], raw, ChainMatcher::kNothing, &steps)) return;
    JoinSteps(&steps);
  }
  if (!PlaceAll(steps, tensors_allowed, e)) return Clear(e);
  e->is_chain = true;
  const bool at_most_clamp =
      e->step_count == 0 || (e->step_count == 1 && e->steps[0].op == ChainOp::kClamp);
  const TileOperand& out = e->outputs[0];
  e->is_direct = at_most_clamp && out.dtype == DType::kF32 && out.col_stride == 1;
}

}  // namespace aicf::cpu
