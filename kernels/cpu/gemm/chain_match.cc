#include "kernels/cpu/gemm/chain_match.h"

#include <cmath>
#include <limits>

namespace aicf::cpu {
namespace {

using abi::ExprNode;
using abi::ExprOp;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

bool StepOfFunction(ExprOp op, ChainStep* step) {
  step->a = step->lo = kUnitScale;
  step->b = step->hi = kUnitShift;
  switch (op) {
    case ExprOp::kSigmoid:
      step->op = ChainOp::kSigmoid;
      return true;
    case ExprOp::kTanh:
      step->op = ChainOp::kTanh;
      return true;
    case ExprOp::kErf:
      step->op = ChainOp::kErf;
      return true;
    case ExprOp::kRoundF16:
      step->op = ChainOp::kRoundF16;
      return true;
    case ExprOp::kRound:
      step->op = ChainOp::kRound;
      return true;
    default:
      return false;
  }
}

// Whether c is a power of two whose reciprocal is finite. Multiplying by the reciprocal then gives
// the same result as dividing by c, since both round the same exact value.
bool HasExactReciprocal(float c) {
  int exponent = 0;
  return std::fabs(std::frexp(c, &exponent)) == 0.5f && std::isfinite(1 / c);
}

bool PushDivide(float c, ChainSteps* steps) {
  if (HasExactReciprocal(c)) return steps->PushLinear(1 / c, -0.0f);
  ChainStep s = StepOf(ChainOp::kDivide);
  s.a = c;
  return steps->Push(s);
}

}  // namespace

bool ChainMatcher::Match(int node, int base, int saved, ChainSteps* steps) {
  if (node == base) return true;
  const ExprNode& n = nodes_[node];
  if (n.dtype != DType::kF32 || ++visits_ > kMaxVisits) return false;
  ChainStep function{};
  if (StepOfFunction(n.op, &function)) {
    return Match(n.args[0], base, saved, steps) && steps->Push(function);
  }
  switch (n.op) {
    case ExprOp::kCast:
      return MatchNarrow(n, base, saved, steps);
    case ExprOp::kNeg:
      return Match(n.args[0], base, saved, steps) && steps->PushLinear(-1, -0.0f);
    case ExprOp::kAdd:
    case ExprOp::kSub:
    case ExprOp::kMul:
    case ExprOp::kDiv:
    case ExprOp::kMin:
    case ExprOp::kMax:
    case ExprOp::kFma:
      return MatchOperator(n, base, saved, steps);
    default:
      return false;
  }
}

// Matches a cast from f32 to an integer of 8 bits and back, as quantising and then dequantising a
// value does.
bool ChainMatcher::MatchNarrow(const ExprNode& n, int base, int saved, ChainSteps* steps) {
  const ExprNode& narrow = nodes_[n.args[0]];
  if (narrow.op != ExprOp::kCast || !IsByteInteger(narrow.dtype)) return false;
  const int from = narrow.args[0];
  return Match(from, base, saved, steps) && steps->Push(NarrowTo(narrow.dtype));
}

bool ChainMatcher::IsNumber(int node, float* value) const {
  const ExprNode& n = nodes_[node];
  if (n.op != ExprOp::kConst || n.dtype != DType::kF32) return false;
  *value = static_cast<float>(abi::BitsToFloat(n.imm));
  return true;
}

// Whether the node is an operand of bytes as f32, optionally minus a zero point and optionally
// times a scale.
bool ChainMatcher::IsDequantised(int node, ChainOperand* operand) const {
  ChainOperand found{};
  found.source = ChainSource::kTensor;
  found.dequantises = true;
  found.shift = kUnitShift;
  found.scale = kUnitScale;
  const ExprNode* n = &nodes_[node];
  if (n->op == ExprOp::kMul && IsNumber(n->args[1], &found.scale)) n = &nodes_[n->args[0]];
  if (n->op == ExprOp::kSub && IsNumber(n->args[1], &found.shift)) {
    found.shift = -found.shift;
    n = &nodes_[n->args[0]];
  }
  if (n->op != ExprOp::kCast || n->dtype != DType::kF32) return false;
  const ExprNode& input = nodes_[n->args[0]];
  if (input.op != ExprOp::kInput || input.imm == 0 || !IsByteInteger(input.dtype)) return false;
  found.index = static_cast<int>(input.imm) - 1;
  *operand = found;
  return true;
}

bool ChainMatcher::IsLeaf(int node, int saved, ChainOperand* operand) const {
  *operand = {};
  if (IsNumber(node, &operand->number)) return true;
  if (node == saved) {
    operand->source = ChainSource::kSaved;
    return true;
  }
  const ExprNode& n = nodes_[node];
  if (IsDequantised(node, operand)) return true;
  if (n.op != ExprOp::kInput || n.imm == 0) return false;
  operand->source = ChainSource::kTensor;
  operand->index = static_cast<int>(n.imm) - 1;
  return true;
}

bool ChainMatcher::MatchOperator(const ExprNode& n, int base, int saved, ChainSteps* steps) {
  int computed[3], count = 0, uses = 0, first_saved = kNothing;
  for (int k = 0; k < abi::ExprOpArity(n.op); ++k) {
    const int arg = n.args[k];
    ChainOperand leaf{};
    if (IsLeaf(arg, saved, &leaf)) {
      if (leaf.source == ChainSource::kSaved) first_saved = arg;
      continue;
    }
    ++uses;
    bool known = false;
    for (int i = 0; i < count; ++i) known |= computed[i] == arg;
    if (!known) computed[count++] = arg;
  }
  // All arguments are leaves. One step can then compute the node only if v is the saved value and
  // is one of the arguments.
  if (count == 0) {
    return first_saved != kNothing && first_saved == base && PushOperator(n, base, saved, steps);
  }
  if (uses == 1) {
    return Match(computed[0], base, saved, steps) && PushOperator(n, computed[0], saved, steps);
  }
  if (saved != kNothing || count > 2) return false;
  const int other = computed[count - 1];
  return MatchFork(n, computed[0], other, base, steps) ||
         (count == 2 && MatchFork(n, other, computed[0], base, steps));
}

bool ChainMatcher::MatchFork(const ExprNode& n, int kept, int flowing, int base,
                             ChainSteps* steps) {
  const ChainSteps before = *steps;
  for (int fork = kept; fork != kNothing; fork = OnlyComputed(fork)) {
    *steps = before;
    if (!Match(fork, base, kNothing, steps)) return false;
    if (steps->Push(ChainOp::kSave) && Match(flowing, fork, fork, steps)) {
      if (fork == kept) return PushOperator(n, flowing, kept, steps);
      return steps->Push(ChainOp::kSwap) && Match(kept, fork, flowing, steps) &&
             PushOperator(n, kept, flowing, steps);
    }
    if (fork == base) break;
  }
  *steps = before;
  return false;
}

int ChainMatcher::OnlyComputed(int node) const {
  int found = kNothing;
  for (int k = 0; k < abi::ExprOpArity(nodes_[node].op); ++k) {
    ChainOperand leaf{};
    if (IsLeaf(nodes_[node].args[k], kNothing, &leaf)) continue;
    if (found != kNothing) return kNothing;
    found = nodes_[node].args[k];
  }
  return found;
}

bool ChainMatcher::PushOperator(const ExprNode& n, int value, int saved, ChainSteps* steps) const {
  const int arity = abi::ExprOpArity(n.op);
  int slot = 0;
  while (slot < arity && n.args[slot] != value) ++slot;
  ChainOperand operands[3] = {};
  for (int k = 0; k < arity; ++k) {
    if (k != slot && !IsLeaf(n.args[k], saved, &operands[k])) return false;
  }
  if (n.op == ExprOp::kFma) return PushFma(slot, operands, steps);
  return PushBinary(n, slot == 0, operands[1 - slot], steps);
}

bool ChainMatcher::PushBinary(const ExprNode& n, bool value_first, const ChainOperand& other,
                              ChainSteps* steps) const {
  const float c = other.number;
  if (other.source != ChainSource::kNumber) {
    if (n.op != ExprOp::kAdd && n.op != ExprOp::kMul) return false;
    ChainStep s = StepOf(n.op == ExprOp::kAdd ? ChainOp::kAdd : ChainOp::kMul);
    s.x = other;
    return steps->Push(s);
  }
  switch (n.op) {
    case ExprOp::kAdd:
      return steps->PushLinear(1, c);
    case ExprOp::kSub:
      return value_first ? steps->PushLinear(1, -c) : steps->PushLinear(-1, c);
    case ExprOp::kMul:
      return steps->PushLinear(c, -0.0f);
    case ExprOp::kDiv:
      return value_first && PushDivide(c, steps);
    case ExprOp::kMin:
      return !std::isnan(c) && steps->PushClamp(-kInfinity, c);
    case ExprOp::kMax:
      return !std::isnan(c) && steps->PushClamp(c, kInfinity);
    default:
      return false;
  }
}

bool ChainMatcher::PushFma(int slot, const ChainOperand* operands, ChainSteps* steps) const {
  ChainStep s = StepOf(slot == 2 ? ChainOp::kFmaSum : ChainOp::kFmaValue);
  s.x = operands[slot == 0 ? 1 : 0];
  s.y = operands[slot == 2 ? 1 : 2];
  if (slot != 2 && s.x.source == ChainSource::kNumber && s.y.source == ChainSource::kNumber) {
    ChainStep fma = StepOf(ChainOp::kFma);
    fma.a = s.x.number;
    fma.b = s.y.number;
    return steps->Push(fma);
  }
  return steps->Push(s);
}

}  // namespace aicf::cpu
