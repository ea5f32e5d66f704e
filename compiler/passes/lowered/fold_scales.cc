// The epilogue of a product of codes scales its sums and divides them by the scale of the result:
// round((sum * scale + bias) / c). Where scale and bias are constants, the quotient moves into
// them: round(sum * (scale / c) + bias / c). The same goes for a residual, whose codes are
// multiplied by a constant, and for sums of floats, which get 1 / c as their scale. This is also
// how quantised operators are defined that name all scales at once, as QLinearConv does. A
// corrected quotient takes three instructions for each result, and plain division many more.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "compiler/ir/lowered_edit.h"
#include "compiler/passes/lowered/passes.h"
#include "compiler/passes/lowered/roundings.h"

namespace aicf {
namespace {

using abi::Expr;
using abi::ExprNode;
using abi::ExprOp;

// Whether a value / c keeps all its digits as f32. Zero does.
bool KeepsDigits(double value, double c) {
  return value == 0 ||
         (std::isnormal(static_cast<float>(value)) && std::isnormal(static_cast<float>(value / c)));
}

// Constant operands divided by constants. Each pair of an operand and a divisor is made once.
class DividedConstants {
 public:
  explicit DividedConstants(ir::Lowered& lowered) : lowered_(lowered) {}

  bool CanDivide(ir::BufferId id, double c) const {
    const ir::LoweredBuffer& buffer = lowered_.buffers[id];
    if (buffer.dtype != DType::kF32 || !buffer.constant.has_data()) return false;
    for (int64_t i = 0; i < buffer.constant.count(); ++i) {
      if (!KeepsDigits(buffer.constant.FloatAt(i), c)) return false;
    }
    return true;
  }

  ir::BufferId Divide(ir::BufferId id, double c) {
    const auto [at, added] = made_.try_emplace({id, c}, 0);
    if (!added) return at->second;
    ir::LoweredBuffer divided = lowered_.buffers[id];
    std::vector<float> values;
    for (int64_t i = 0; i < divided.constant.count(); ++i)
      values.push_back(static_cast<float>(divided.constant.FloatAt(i) / c));
    divided.constant = ir::Tensor::FromValues<float>(DType::kF32, divided.shape, values);
    divided.name += " / scale";
    at->second = static_cast<ir::BufferId>(lowered_.buffers.size());
    lowered_.buffers.push_back(std::move(divided));
    return at->second;
  }

 private:
  ir::Lowered& lowered_;
  std::map<std::pair<ir::BufferId, double>, ir::BufferId> made_;
};

// One epilogue in which quotients are to move into scales.
class ScaleFolder {
 public:
  ScaleFolder(const ir::LoweredStep& step, DividedConstants& constants)
      : step_(step),
        expr_(step.problem.epilogue),
        constants_(constants),
        uses_(UseCounts(expr_)),
        operands_(step.inputs) {}

  // Returns how many quotients can move.
  int Fold() {
    for (uint16_t i = 0; i < expr_.nodes.size(); ++i) {
      const ExprNode& n = expr_.nodes[i];
      const std::optional<double> c = Divisor(i);
      const bool moves = c && CanDivide(n.args[0], *c);
      folded_ += moves ? 1 : 0;
      now_.push_back(moves ? Divided(n.args[0], *c) : Copied(n));
    }
    return folded_;
  }
  // The epilogue in which they moved, and the operands of the step that it reads.
  Expr Epilogue() {
    for (uint16_t r : expr_.results) out_.results.push_back(now_[r]);
    return WithoutDeadNodes(out_);
  }
  const std::vector<ir::BufferId>& operands() const { return operands_; }

 private:
  // The constant by which the node divides an f32 that is then rounded to a whole number.
  std::optional<double> Divisor(uint16_t node) const {
    const ExprNode& n = expr_.nodes[node];
    if (n.op != ExprOp::kDiv || n.dtype != DType::kF32) return std::nullopt;
    if (expr_.nodes[n.args[1]].op != ExprOp::kConst) return std::nullopt;
    if (!IsOnlyRounded(node)) return std::nullopt;
    const double c = abi::BitsToFloat(expr_.nodes[n.args[1]].imm);
    return c > 0 && KeepsDigits(1, c) ? std::optional(c) : std::nullopt;
  }
  bool IsOnlyRounded(uint16_t node) const {
    return uses_[node] == 1 && std::ranges::any_of(expr_.nodes, [&](const ExprNode& reader) {
             return reader.op == ExprOp::kRound && reader.args[0] == node;
           });
  }

  // Whether a constant is all that the node is, and can be divided.
  bool IsFactor(uint16_t node, double c) const {
    const ExprNode& n = expr_.nodes[node];
    if (n.dtype != DType::kF32) return false;
    if (n.op == ExprOp::kConst) return KeepsDigits(abi::BitsToFloat(n.imm), c);
    const int operand = ExtraOperand(n);
    return operand >= 0 && uses_[node] == 1 && constants_.CanDivide(step_.inputs[operand], c);
  }
  // The place of an operand among the step's own; -1 for sums and for whatever is no input.
  int ExtraOperand(const ExprNode& n) const {
    if (n.op != ExprOp::kInput) return -1;
    const int extra = static_cast<int>(n.imm) - abi::RawInputs(step_.problem);
    return extra < 0 ? -1 : step_.problem.core_inputs + extra;
  }
  // Whether the node is a sum of products of floats, which is rounded anyway.
  bool IsSum(const ExprNode& n) const {
    return n.op == ExprOp::kInput && n.dtype == DType::kF32 &&
           n.imm < static_cast<uint64_t>(abi::SumInputs(step_.problem));
  }
  // Which factor of a product takes the quotient; -1 where neither can.
  int FactorOf(const ExprNode& product, double c) const {
    if (IsFactor(product.args[1], c)) return 1;
    return IsFactor(product.args[0], c) ? 0 : -1;
  }
  bool CanDivide(uint16_t node, double c) const {
    const ExprNode& n = expr_.nodes[node];
    if (IsFactor(node, c)) return true;
    if (uses_[node] != 1 || n.dtype != DType::kF32) return false;
    switch (n.op) {
      case ExprOp::kInput:
        return IsSum(n);
      case ExprOp::kMul:
        return FactorOf(n, c) >= 0;
      case ExprOp::kAdd:
      case ExprOp::kSub:
      case ExprOp::kMax:
      case ExprOp::kMin:
        return CanDivide(n.args[0], c) && CanDivide(n.args[1], c);
      default:
        return false;
    }
  }

  // The node in the new epilogue, as it is and divided by c.
  uint16_t Copied(ExprNode n) {
    for (int a = 0; a < abi::ExprOpArity(n.op); ++a) n.args[a] = now_[n.args[a]];
    return Add(n);
  }
  uint16_t Divided(uint16_t node, double c) {
    const ExprNode& n = expr_.nodes[node];
    if (n.op == ExprOp::kConst) return AddConst(abi::BitsToFloat(n.imm) / c);
    if (IsSum(n)) return Add({ExprOp::kMul, n.dtype, {now_[node], AddConst(1 / c)}});
    if (n.op == ExprOp::kInput) {
      const int operand = ExtraOperand(n);
      operands_[operand] = constants_.Divide(step_.inputs[operand], c);
      return now_[node];
    }
    if (n.op == ExprOp::kMul) {
      const int factor = FactorOf(n, c);
      return Add({n.op, n.dtype, {now_[n.args[1 - factor]], Divided(n.args[factor], c)}});
    }
    const uint16_t left = Divided(n.args[0], c);
    return Add({n.op, n.dtype, {left, Divided(n.args[1], c)}});
  }
  uint16_t AddConst(double value) {
    const auto rounded = static_cast<double>(static_cast<float>(value));
    return Add({ExprOp::kConst, DType::kF32, {}, abi::FloatBits(rounded)});
  }
  uint16_t Add(const ExprNode& n) {
    out_.nodes.push_back(n);
    return static_cast<uint16_t>(out_.nodes.size() - 1);
  }

  const ir::LoweredStep& step_;
  const Expr& expr_;
  DividedConstants& constants_;
  std::vector<int> uses_;
  std::vector<ir::BufferId> operands_;
  Expr out_;
  std::vector<uint16_t> now_;  // by old node
  int folded_ = 0;
};

}  // namespace

Status FoldScales(ir::Lowered& lowered, PassContext& context) {
  const RoundingRewrite folded = {
      "fold-scales", "scales of the result in those of the operands", "div",
      "a scale or bias divided by a constant is off by 2^-24 of itself, as the quotient was before "
      "it was rounded to a code, and a quotient takes the time of three products at least"};
  DividedConstants constants(lowered);
  const size_t buffers = lowered.buffers.size();
  for (ir::LoweredStep& step : lowered.steps) {
    const abi::Family family = step.problem.family;
    if (family != abi::Family::kGemm && family != abi::Family::kConv) continue;
    ScaleFolder folder(step, constants);
    const auto fold = [&](Expr& epilogue, std::string*) {
      const int count = folder.Fold();
      epilogue = folder.Epilogue();
      return count;
    };
    if (RewriteRoundings(step, context, folded, fold)) step.inputs = folder.operands();
  }
  // Constants that were divided have lost readers, or were made for a step that keeps its own.
  if (lowered.buffers.size() > buffers) ir::DropUnusedBuffers(lowered);
  return OkStatus();
}

}  // namespace aicf
