#include "kernels/abi/expr.h"

#include <bit>

namespace aicf::abi {
namespace {

enum class OpClass : uint8_t { A, C, L, F, S };

struct ExprOpInfo {
  std::string_view name;
  int arity;
  OpClass cls;
  double flops;
};

constexpr ExprOpInfo kOps[] = {
#define AICF_EXPR(id, text, arity, cls, flops) {text, arity, OpClass::cls, flops},
#include "kernels/abi/expr_ops.def"
#undef AICF_EXPR
};

const ExprOpInfo& Info(ExprOp op) { return kOps[static_cast<int>(op)]; }

Status Bad(size_t node, std::string_view why) {
  return Error(Code::kBadArtifact, "expression node %", node, ": ", why);
}

bool SameArgs(const Expr& e, const ExprNode& n, int first, DType dtype) {
  for (int a = first; a < Info(n.op).arity; ++a) {
    if (e.nodes[n.args[a]].dtype != dtype) return false;
  }
  return true;
}

Status CheckSpecial(const Expr& e, size_t i, std::span<const DType> inputs, int rank) {
  const ExprNode& n = e.nodes[i];
  switch (n.op) {
    case ExprOp::kInput:
      if (n.imm >= inputs.size()) return Bad(i, "reads an input that does not exist");
      if (n.dtype != ComputeDType(inputs[n.imm])) return Bad(i, "differs from its input's dtype");
      return OkStatus();
    case ExprOp::kIndex:
      if (n.imm >= static_cast<uint64_t>(rank)) return Bad(i, "names an axis outside the domain");
      return n.dtype == DType::kI64 ? OkStatus() : Bad(i, "an index must be i64");
    case ExprOp::kSelect:
      if (e.nodes[n.args[0]].dtype != DType::kBool) return Bad(i, "selects on a value not bool");
      return SameArgs(e, n, 1, n.dtype) ? OkStatus() : Bad(i, "selects between other dtypes");
    case ExprOp::kIsNan:
    case ExprOp::kIsInf:
      if (!IsFloat(e.nodes[n.args[0]].dtype)) return Bad(i, "tests a value that is not a float");
      return n.dtype == DType::kBool ? OkStatus() : Bad(i, "a predicate must be bool");
    case ExprOp::kRoundF16:
    case ExprOp::kRoundBF16:
      return n.dtype == DType::kF32 && SameArgs(e, n, 0, DType::kF32)
                 ? OkStatus()
                 : Bad(i, "narrowing needs f32");
    default:
      return OkStatus();  // const and cast accept every dtype
  }
}

Status CheckNode(const Expr& e, size_t i, std::span<const DType> inputs, int rank) {
  const ExprNode& n = e.nodes[i];
  if (!IsValid(n.op)) return Bad(i, "unknown operator");
  if (!IsValid(n.dtype) || ComputeDType(n.dtype) != n.dtype) return Bad(i, "illegal dtype");
  const ExprOpInfo& info = Info(n.op);
  for (int a = 0; a < 3; ++a) {
    if (a < info.arity && n.args[a] >= i) return Bad(i, "refers to a later node");
    if (a >= info.arity && n.args[a] != 0) return Bad(i, "has an argument beyond its arity");
  }
  switch (info.cls) {
    case OpClass::A:
      if (n.dtype == DType::kBool && n.op != ExprOp::kMin && n.op != ExprOp::kMax) {
        return Bad(i, "arithmetic on bool");
      }
      if ((n.op == ExprOp::kShl || n.op == ExprOp::kShr) && !IsInteger(n.dtype)) {
        return Bad(i, "shifts a value that is not an integer");
      }
      return SameArgs(e, n, 0, n.dtype) ? OkStatus() : Bad(i, "operand dtypes differ");
    case OpClass::C: {
      const DType operand = e.nodes[n.args[0]].dtype;
      if (n.dtype != DType::kBool) return Bad(i, "a comparison must be bool");
      return SameArgs(e, n, 0, operand) ? OkStatus() : Bad(i, "compares different dtypes");
    }
    case OpClass::L:
      if (IsFloat(n.dtype)) return Bad(i, "logical operator on a float");
      return SameArgs(e, n, 0, n.dtype) ? OkStatus() : Bad(i, "operand dtypes differ");
    case OpClass::F:
      if (!IsFloat(n.dtype)) return Bad(i, "needs a float dtype");
      return SameArgs(e, n, 0, n.dtype) ? OkStatus() : Bad(i, "operand dtypes differ");
    case OpClass::S:
      return CheckSpecial(e, i, inputs, rank);
  }
  return OkStatus();
}

}  // namespace

std::string_view ExprOpName(ExprOp op) { return Info(op).name; }
int ExprOpArity(ExprOp op) { return Info(op).arity; }
double ExprOpFlops(ExprOp op) { return Info(op).flops; }

uint64_t FloatBits(double value) { return std::bit_cast<uint64_t>(value); }
double BitsToFloat(uint64_t bits) { return std::bit_cast<double>(bits); }

int InputCount(const Expr& expr) {
  int count = 0;
  for (const ExprNode& n : expr.nodes) {
    if (n.op == ExprOp::kInput && static_cast<int>(n.imm) >= count) {
      count = static_cast<int>(n.imm) + 1;
    }
  }
  return count;
}

double Flops(const Expr& expr) {
  double flops = 0;
  for (const ExprNode& n : expr.nodes) flops += Info(n.op).flops;
  return flops;
}

Status ValidateExpr(const Expr& expr, std::span<const DType> input_dtypes, int domain_rank) {
  if (expr.empty()) {
    return expr.results.empty() ? OkStatus()
                                : Error(Code::kBadArtifact, "expression: results without nodes");
  }
  if (expr.nodes.size() > kMaxExprNodes) {
    return Error(Code::kBadArtifact, "expression: ", expr.nodes.size(), " nodes, limit ",
                 kMaxExprNodes);
  }
  if (input_dtypes.size() > kMaxExprInputs) {
    return Error(Code::kBadArtifact, "expression: ", input_dtypes.size(), " inputs, limit ",
                 kMaxExprInputs);
  }
  if (expr.results.empty() || expr.results.size() > kMaxExprResults) {
    return Error(Code::kBadArtifact, "expression: ", expr.results.size(), " results, allowed 1 to ",
                 kMaxExprResults);
  }
  for (size_t i = 0; i < expr.nodes.size(); ++i) {
    AICF_RETURN_IF_ERROR(CheckNode(expr, i, input_dtypes, domain_rank));
  }
  for (uint16_t r : expr.results) {
    if (r >= expr.nodes.size())
      return Error(Code::kBadArtifact, "expression: result %", r, " does not exist");
  }
  return OkStatus();
}

}  // namespace aicf::abi
