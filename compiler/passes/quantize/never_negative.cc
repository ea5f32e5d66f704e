#include "compiler/passes/quantize/never_negative.h"

#include <algorithm>

namespace aicf::quantize {
namespace {

using abi::Expr;
using abi::ExprNode;
using abi::ExprOp;
using abi::Family;

bool IsNonNegativeConst(const ExprNode& n) {
  if (IsFloat(n.dtype)) return abi::BitsToFloat(n.imm) >= 0;
  return n.dtype == DType::kBool || static_cast<int64_t>(n.imm) >= 0;
}

// By node: whether its value is never negative, as far as that follows from its operands. `inputs`
// says so of the expression's inputs.
std::vector<bool> OfNodes(const Expr& expr, const std::vector<bool>& inputs) {
  std::vector<bool> known(expr.nodes.size(), false);
  for (size_t i = 0; i < known.size(); ++i) {
    const ExprNode& n = expr.nodes[i];
    const auto arg = [&](int k) { return static_cast<bool>(known[n.args[k]]); };
    switch (n.op) {
      case ExprOp::kInput:
        known[i] = inputs[static_cast<size_t>(n.imm)];
        break;
      case ExprOp::kConst:
        known[i] = IsNonNegativeConst(n);
        break;
      case ExprOp::kMax:
        known[i] = arg(0) || arg(1);
        break;
      case ExprOp::kMul:
        known[i] = n.args[0] == n.args[1] || (arg(0) && arg(1));
        break;
      case ExprOp::kAdd:
      case ExprOp::kMin:
        known[i] = arg(0) && arg(1);
        break;
      case ExprOp::kDiv: {
        // A divisor that is known not to be negative may still be -0, and a quotient by -0 is
        // negative. So only constants other than 0 will do.
        const ExprNode& by = expr.nodes[n.args[1]];
        known[i] = arg(0) && arg(1) && by.op == ExprOp::kConst && abi::BitsToFloat(by.imm) != 0;
        break;
      }
      case ExprOp::kFma:
        known[i] = arg(0) && arg(1) && arg(2);
        break;
      case ExprOp::kSelect:
        known[i] = arg(1) && arg(2);
        break;
      case ExprOp::kCast:
      case ExprOp::kSqrt:
      case ExprOp::kFloor:
      case ExprOp::kCeil:
      case ExprOp::kRound:
      case ExprOp::kTrunc:
      case ExprOp::kTanh:
        known[i] = IsFloat(n.dtype) && arg(0);
        break;
      case ExprOp::kAbs:
        known[i] = IsFloat(n.dtype);
        break;
      case ExprOp::kExp:
      case ExprOp::kSigmoid:
      case ExprOp::kSoftplus:
        known[i] = true;
        break;
      default:
        break;
    }
  }
  return known;
}

bool IsUnsigned(DType d) { return d == DType::kBool || KindOf(d) == DTypeKind::kUnsigned; }

class Prover {
 public:
  explicit Prover(const ir::Lowered& lowered)
      : lowered_(lowered), known_(lowered.buffers.size(), false) {
    for (size_t b = 0; b < known_.size(); ++b) {
      const ir::LoweredBuffer& buffer = lowered.buffers[b];
      known_[b] = IsUnsigned(buffer.dtype) || IsNonNegative(buffer.constant);
    }
    // A buffer that several steps write counts only if none of them may write a negative number.
    std::vector<bool> written(known_.size(), false);
    for (const ir::LoweredStep& step : lowered.steps) {
      for (size_t r = 0; r < step.outputs.size(); ++r) {
        const ir::BufferId b = step.outputs[r];
        const bool first = !written[b];
        written[b] = true;
        known_[b] = Result(step, r) && (first || known_[b]);
      }
    }
    // In a loop, a step may read what a later step writes, which was not known yet when this walk
    // came by. So nothing is claimed of a program with loops.
    if (!lowered.loops.empty()) known_.assign(known_.size(), false);
  }

  std::vector<bool> Take() { return std::move(known_); }

 private:
  static bool IsNonNegative(const ir::Tensor& t) {
    if (!t.has_data() || t.dtype() != DType::kF32) return false;
    for (int64_t i = 0; i < t.count(); ++i) {
      if (!(t.at<float>(i) >= 0)) return false;
    }
    return true;
  }

  bool Operand(const ir::LoweredStep& step, size_t k) const {
    const ir::BufferId b = step.inputs[k];
    return step.problem.inputs[k].dtype == lowered_.buffers[b].dtype && known_[b];
  }

  bool Result(const ir::LoweredStep& step, size_t output) const {
    const abi::Problem& p = step.problem;
    if (p.outputs[output].dtype != lowered_.buffers[step.outputs[output]].dtype) return false;
    std::vector<bool> inputs;
    const auto raw = static_cast<size_t>(abi::RawInputs(p));
    inputs.resize(raw, RawResult(step));
    const size_t first = raw == 0 ? 0 : static_cast<size_t>(p.core_inputs);
    for (size_t k = first; k < step.inputs.size(); ++k) inputs.push_back(Operand(step, k));
    if (p.epilogue.empty()) return RawResult(step);
    return OfNodes(p.epilogue, inputs)[p.epilogue.results[output]];
  }

  // What the family makes before its epilogue.
  bool RawResult(const ir::LoweredStep& step) const {
    const abi::Problem& p = step.problem;
    switch (p.family) {
      case Family::kCopy: {
        const auto& a = p.as<abi::CopyAttrs>();
        return (!a.has_fill || a.fill >= 0) && AllOperands(step, step.inputs.size());
      }
      case Family::kPool:
        return Operand(step, 0);
      case Family::kNormalize:
        return p.as<abi::NormalizeAttrs>().kind == abi::NormalizeKind::kSoftmax;
      case Family::kReduce: {
        const abi::ReduceKind kind = p.as<abi::ReduceAttrs>().kind;
        const bool keeps = kind == abi::ReduceKind::kMean || kind == abi::ReduceKind::kMax ||
                           kind == abi::ReduceKind::kMin || kind == abi::ReduceKind::kSum;
        return keeps && p.prologue.empty() && Operand(step, 0);
      }
      default:
        return false;
    }
  }

  bool AllOperands(const ir::LoweredStep& step, size_t count) const {
    for (size_t k = 0; k < count; ++k) {
      if (!Operand(step, k)) return false;
    }
    return true;
  }

  const ir::Lowered& lowered_;
  std::vector<bool> known_;
};

}  // namespace

std::vector<bool> NeverNegative(const ir::Lowered& lowered) { return Prover(lowered).Take(); }

}  // namespace aicf::quantize
