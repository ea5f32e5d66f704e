#include "compiler/passes/storage/beyond_range.h"

#include <algorithm>
#include <cmath>

#include "compiler/passes/storage/narrow_tensor.h"

namespace aicf::storage {
namespace {

using abi::Expr;
using abi::ExprNode;
using abi::ExprOp;
using abi::Family;

class Finder {
 public:
  Finder(const ir::Lowered& lowered, DType narrow)
      : lowered_(lowered), most_(LargestOf(narrow)), beyond_(lowered.buffers.size(), false) {}

  std::vector<bool> Run() {
    FindConstants();
    for (const ir::LoweredStep& step : lowered_.steps) {
      for (size_t r = 0; r < step.outputs.size(); ++r) {
        if (Reaches(step, r)) beyond_[step.outputs[r]] = true;
      }
    }
    return std::move(beyond_);
  }

 private:
  bool IsBeyond(double value) const { return std::isfinite(value) && std::fabs(value) > most_; }

  // Only those that expressions read: weights of products are rounded by rules of their own.
  void FindConstants() {
    std::vector<bool> looked(beyond_.size(), false);
    for (const ir::LoweredStep& step : lowered_.steps) {
      const bool all = step.problem.family == Family::kElementwise || Moves(step);
      for (size_t k = all ? 0 : FirstExtra(step); k < step.inputs.size(); ++k) {
        const ir::BufferId b = step.inputs[k];
        const ir::Tensor& constant = lowered_.buffers[b].constant;
        if (looked[b] || !constant.has_data() || constant.dtype() != DType::kF32) continue;
        looked[b] = true;
        for (int64_t i = 0; i < constant.count() && !beyond_[b]; ++i) {
          beyond_[b] = IsBeyond(static_cast<double>(constant.at<float>(i)));
        }
      }
    }
  }

  static size_t FirstExtra(const ir::LoweredStep& step) {
    return static_cast<size_t>(step.problem.core_inputs);
  }

  // Whether the results in front of the epilogue are elements of operands.
  static bool Moves(const ir::LoweredStep& step) {
    switch (step.problem.family) {
      case Family::kCopy:
      case Family::kGather:
      case Family::kResize:
      case Family::kPool:
      case Family::kScatter:
      case Family::kTopK:
        return true;
      default:
        return false;
    }
  }

  // Whether input `i` of the epilogue may be beyond the range.
  bool InputReaches(const ir::LoweredStep& step, uint64_t i) const {
    if (step.problem.family == Family::kElementwise) return beyond_[step.inputs[i]];
    // A product of two halves has two sums.
    const auto sums = static_cast<uint64_t>(abi::RawInputs(step.problem));
    if (i >= sums) return beyond_[step.inputs[FirstExtra(step) + i - sums]];
    return Moves(step) &&
           std::ranges::any_of(step.inputs, [&](ir::BufferId b) { return beyond_[b]; });
  }

  bool NodeReaches(const ir::LoweredStep& step, const ExprNode& n,
                   const std::vector<bool>& reached) const {
    const std::vector<ExprNode>& nodes = step.problem.epilogue.nodes;
    const auto limits = [&](uint16_t arg) {
      return reached[arg] && nodes[arg].op != ExprOp::kConst;
    };
    switch (n.op) {
      case ExprOp::kConst:
        return IsFloat(n.dtype) && IsBeyond(abi::BitsToFloat(n.imm));
      case ExprOp::kInput:
        return InputReaches(step, n.imm);
      case ExprOp::kSelect:
        return reached[n.args[1]] || reached[n.args[2]];
      case ExprOp::kFma:
        return reached[n.args[0]] || reached[n.args[1]] || reached[n.args[2]];
      case ExprOp::kAdd:
      case ExprOp::kSub:
      case ExprOp::kMul:
        return reached[n.args[0]] || reached[n.args[1]];
      case ExprOp::kNeg:
      case ExprOp::kAbs:
      case ExprOp::kCast:
        return reached[n.args[0]];
      case ExprOp::kMin:
      case ExprOp::kMax:
        return limits(n.args[0]) || limits(n.args[1]);
      default:
        return false;
    }
  }

  bool Reaches(const ir::LoweredStep& step, size_t result) const {
    const Expr& expr = step.problem.epilogue;
    if (expr.empty()) return InputReaches(step, 0);
    std::vector<bool> reached;
    for (const ExprNode& n : expr.nodes) reached.push_back(NodeReaches(step, n, reached));
    return reached[expr.results[result]];
  }

  const ir::Lowered& lowered_;
  const double most_;
  std::vector<bool> beyond_;
};

}  // namespace

std::vector<bool> BeyondRange(const ir::Lowered& lowered, DType narrow) {
  return Finder(lowered, narrow).Run();
}

}  // namespace aicf::storage
