#include "compiler/passes/storage/sensitive.h"

#include <algorithm>

#include "kernels/abi/append.h"
#include "kernels/abi/discontinuous.h"

namespace aicf::storage {
namespace {

using abi::Expr;
using abi::ExprNode;
using abi::ExprOp;
using abi::Family;
using abi::Problem;

bool IsConst(const Expr& expr, uint16_t node) { return expr.nodes[node].op == ExprOp::kConst; }

// Operators whose result may be far larger or smaller than their operands.
bool HasWideRange(const Expr& expr, const ExprNode& n) {
  switch (n.op) {
    case ExprOp::kExp:
    case ExprOp::kPow:
    case ExprOp::kSinh:
    case ExprOp::kCosh:
    case ExprOp::kRecip:
    case ExprOp::kRsqrt:
      return true;
    case ExprOp::kMul:
      return n.args[0] == n.args[1];  // a square
    case ExprOp::kDiv:
      return !IsConst(expr, n.args[1]);
    default:
      return false;
  }
}

// The operator that makes a result. Operators behind it that keep the magnitude are skipped.
const ExprNode* MakerOf(const Expr& expr, uint16_t result) {
  const ExprNode* n = &expr.nodes[result];
  while (n->op == ExprOp::kNeg || n->op == ExprOp::kAbs || n->op == ExprOp::kCast) {
    n = &expr.nodes[n->args[0]];
  }
  return n;
}

// As abi::IsDiscontinuous, except that comparisons by order, signs and casts between floats do not
// count: a leaky ReLU compares, and what it selects has no jump.
bool JumpsAt(const ExprNode& n) {
  switch (n.op) {
    case ExprOp::kSign:
    case ExprOp::kLt:
    case ExprOp::kLe:
      return false;
    case ExprOp::kCast:
      return !IsFloat(n.dtype);
    default:
      return abi::IsDiscontinuous(n);
  }
}

// Whether the result is an integer that was only converted: a position, a count, a token's number.
// Those of 8 bits are exact in 16 bits.
bool IsConverted(const Expr& expr, uint16_t result) {
  const DType made = MakerOf(expr, result)->dtype;
  return !IsFloat(made) && DTypeBytes(made) > 1;
}

bool IsPeriodic(const ExprNode& n) {
  return n.op == ExprOp::kSin || n.op == ExprOp::kCos || n.op == ExprOp::kTan;
}

// Whether the expression takes angles. Of an angle of any size, only the rest after whole turns
// matters.
bool TakesAngles(const Expr& expr) { return std::ranges::any_of(expr.nodes, IsPeriodic); }

bool HasJumps(const Expr& expr) { return std::ranges::any_of(expr.nodes, JumpsAt); }

bool IsRanking(const Problem& p) {
  if (p.family == Family::kTopK || p.family == Family::kNms) return true;
  if (p.family != Family::kReduce) return false;
  const abi::ReduceKind kind = p.as<abi::ReduceAttrs>().kind;
  return kind == abi::ReduceKind::kArgMin || kind == abi::ReduceKind::kArgMax;
}

bool IsSum(const Problem& p) {
  if (p.family == Family::kScan) return true;
  if (p.family != Family::kReduce) return false;
  const abi::ReduceKind kind = p.as<abi::ReduceAttrs>().kind;
  return kind == abi::ReduceKind::kSum || kind == abi::ReduceKind::kProd;
}

// Whether the result is the plain sum of products of float8 codes: their scales come later.
bool IsUnscaled(const Problem& p, int output) {
  if (!MultipliesFloat8(p) || abi::HasBlockScales(p)) return false;
  if (p.epilogue.empty()) return true;
  const uint16_t result = p.epilogue.results[static_cast<size_t>(output)];
  return MakerOf(p.epilogue, result)->op == ExprOp::kInput;
}

}  // namespace

bool MultipliesFloat8(const Problem& p) {
  const bool product = p.family == Family::kGemm || p.family == Family::kConv;
  return product && IsFloat(p.inputs[0].dtype) && DTypeBytes(p.inputs[0].dtype) == 1;
}

std::string SensitiveResult(const Problem& p, int output) {
  if (IsSum(p)) return "a sum has no bound";
  if (IsUnscaled(p, output)) return "sums of codes that are not multiplied by their scales yet";
  if (p.family == Family::kRecurrent) return "a recurrent state gathers roundings";
  if (p.family == Family::kAttention && output == 1) return "a logarithm of a sum is wide";
  if (p.epilogue.empty()) return "";
  const uint16_t result = p.epilogue.results[static_cast<size_t>(output)];
  if (IsConverted(p.epilogue, result)) return "16 bits hold few whole numbers exactly";
  const ExprNode* maker = MakerOf(p.epilogue, result);
  if (!HasWideRange(p.epilogue, *maker)) return "";
  return StrCat("the result of ", abi::ExprOpName(maker->op), " has a wide range");
}

std::string SensitiveOperand(const Problem& p, int input) {
  if (IsRanking(p)) return "ranking: roundings would make equal what is not";
  if (p.family == Family::kScan) return "a running sum gathers roundings";
  if (p.family == Family::kRecurrent) return "a recurrent state gathers roundings";
  if (p.family == Family::kRoi) return "boxes are coordinates";
  if (p.family == Family::kSample && input == 1) return "a grid holds coordinates";
  if (p.family == Family::kAppend && input >= static_cast<int>(abi::kAppendCosine)) {
    return "positions are told apart by small differences of angles";
  }
  const bool whole =
      std::ranges::any_of(p.outputs, [](const abi::View& v) { return !IsFloat(v.dtype); });
  if (whole && p.family == Family::kElementwise) return "it decides a result that is no float";
  if (TakesAngles(p.prologue) || TakesAngles(p.epilogue) || TakesAngles(p.score)) {
    return "of an angle only the rest after whole turns matters";
  }
  if (HasJumps(p.prologue) || HasJumps(p.epilogue) || HasJumps(p.score)) {
    return "it goes through an operator whose result jumps";
  }
  return "";
}

}  // namespace aicf::storage
