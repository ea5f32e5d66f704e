#include <limits>
#include <utility>

#include "kernels/abi/expr.h"

namespace aicf::abi {
namespace {

// Most nodes that a builder holds. Node indices have 16 bits, and Add searches all nodes one by
// one: the limit is far above what a valid expression has (kMaxExprNodes), and small enough to
// search.
constexpr size_t kMostNodes = 4096;

}  // namespace

uint16_t ExprBuilder::Add(const ExprNode& node) {
  // A node that does not fit gets the index of the last node. The expression is then not what was
  // asked for, but it stays far larger than ValidateExpr accepts, since Finish drops nothing of it.
  if (overflowed_) return kMostNodes - 1;
  for (size_t i = 0; i < expr_.nodes.size(); ++i) {
    if (expr_.nodes[i] == node) return static_cast<uint16_t>(i);
  }
  if (expr_.nodes.size() == kMostNodes) {
    overflowed_ = true;
    return kMostNodes - 1;
  }
  expr_.nodes.push_back(node);
  return static_cast<uint16_t>(expr_.nodes.size() - 1);
}

uint16_t ExprBuilder::Input(int index, DType compute_dtype) {
  return Add({ExprOp::kInput, compute_dtype, {0, 0, 0}, static_cast<uint64_t>(index)});
}

uint16_t ExprBuilder::Const(double value, DType dtype) {
  if (!IsFloat(dtype)) return ConstInt(static_cast<int64_t>(value), dtype);
  // An f32 constant carries exactly the f32 value, so that equal constants have equal bits.
  if (dtype == DType::kF32) value = static_cast<double>(static_cast<float>(value));
  // All NaNs become the same one, so that the text form parses back to equal bits.
  if (value != value) value = std::numeric_limits<double>::quiet_NaN();
  return Add({ExprOp::kConst, dtype, {0, 0, 0}, FloatBits(value)});
}

uint16_t ExprBuilder::ConstInt(int64_t value, DType dtype) {
  if (IsFloat(dtype)) return Const(static_cast<double>(value), dtype);
  return Add({ExprOp::kConst, dtype, {0, 0, 0}, static_cast<uint64_t>(value)});
}

uint16_t ExprBuilder::Index(int axis) {
  return Add({ExprOp::kIndex, DType::kI64, {0, 0, 0}, static_cast<uint64_t>(axis)});
}

uint16_t ExprBuilder::Unary(ExprOp op, uint16_t a) {
  const bool predicate = op == ExprOp::kIsNan || op == ExprOp::kIsInf;
  return Add({op, predicate ? DType::kBool : dtype(a), {a, 0, 0}, 0});
}

uint16_t ExprBuilder::Binary(ExprOp op, uint16_t a, uint16_t b) {
  const bool compare = op == ExprOp::kEq || op == ExprOp::kLt || op == ExprOp::kLe;
  return Add({op, compare ? DType::kBool : dtype(a), {a, b, 0}, 0});
}

uint16_t ExprBuilder::Select(uint16_t cond, uint16_t a, uint16_t b) {
  return Add({ExprOp::kSelect, dtype(a), {cond, a, b}, 0});
}

uint16_t ExprBuilder::Fma(uint16_t a, uint16_t b, uint16_t c) {
  return Add({ExprOp::kFma, dtype(a), {a, b, c}, 0});
}

uint16_t ExprBuilder::Cast(uint16_t a, DType to) {
  if (dtype(a) == to) return a;
  const ExprNode& n = expr_.nodes[a];
  // An 8-bit integer constant, such as a zero point, has the same value in f32 and i32, so that it
  // is converted here and needs no cast.
  const bool whole = IsByteInteger(n.dtype);
  if (n.op == ExprOp::kConst && whole && (to == DType::kF32 || to == DType::kI32)) {
    const int64_t value = n.dtype == DType::kI8 ? static_cast<int8_t>(n.imm)
                                                : static_cast<int64_t>(static_cast<uint8_t>(n.imm));
    return Const(static_cast<double>(value), to);
  }
  return Add({ExprOp::kCast, to, {a, 0, 0}, 0});
}

std::vector<uint16_t> ExprBuilder::Inline(const Expr& other, const std::vector<uint16_t>& inputs) {
  std::vector<uint16_t> map(other.nodes.size());
  for (size_t i = 0; i < other.nodes.size(); ++i) {
    ExprNode node = other.nodes[i];
    if (node.op == ExprOp::kInput) {
      map[i] = inputs[node.imm];
      continue;
    }
    for (int a = 0; a < ExprOpArity(node.op); ++a) node.args[a] = map[node.args[a]];
    map[i] = Add(node);
  }
  std::vector<uint16_t> results;
  for (uint16_t r : other.results) results.push_back(map[r]);
  return results;
}

Expr ExprBuilder::Finish(std::vector<uint16_t> results) {
  if (overflowed_) {
    expr_.results = std::move(results);
    return std::move(expr_);
  }
  std::vector<bool> needed(expr_.nodes.size(), false);
  for (uint16_t r : results) needed[r] = true;
  for (size_t i = expr_.nodes.size(); i-- > 0;) {
    if (!needed[i]) continue;
    for (int a = 0; a < ExprOpArity(expr_.nodes[i].op); ++a) needed[expr_.nodes[i].args[a]] = true;
  }
  Expr out;
  std::vector<uint16_t> map(expr_.nodes.size(), 0);
  for (size_t i = 0; i < expr_.nodes.size(); ++i) {
    if (!needed[i]) continue;
    ExprNode node = expr_.nodes[i];
    for (int a = 0; a < ExprOpArity(node.op); ++a) node.args[a] = map[node.args[a]];
    map[i] = static_cast<uint16_t>(out.nodes.size());
    out.nodes.push_back(node);
  }
  for (uint16_t r : results) out.results.push_back(map[r]);
  return out;
}

}  // namespace aicf::abi
